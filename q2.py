import sys,time; sys.path[:0]=["tests","tests/estimators"]
import numpy as np, test_few_passes as t
from sklearn.base import clone
def tm(f,n=3):
    b=[]
    for _ in range(n):
        a=time.process_time(); f(); b.append(time.process_time()-a)
    return round(sorted(b)[n//2],3)
for k in t.KINDS:
    X=t.table(k)
    print(k,"table",tm(lambda: t.table(k)),"few",tm(lambda: clone(t.FEW).fit(X)),"few,nocert",tm(lambda: clone(t.FEW).set_params(certify=False).fit(X)),"any",tm(lambda: clone(t.ANY).fit(X)),"recheck",tm(lambda: t.sketched(k).certificate_.recheck(X)),"counted",tm(lambda: clone(t.FEW).fit(t.CountedRows(X,50))))

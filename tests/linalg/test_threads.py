"""One thread inside a fit, and whatever there was outside it afterwards."""

from __future__ import annotations

import threading

from threadpoolctl import threadpool_info

from sparing.linalg import single_threaded_blas


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_overlapping_fits_restore_what_the_first_one_found():
    before = blas_threads()
    first_left = threading.Event()
    second_in = threading.Event()
    seen = []

    def first():
        with single_threaded_blas():
            second_in.wait(60)
        first_left.set()

    def second():
        with single_threaded_blas():
            second_in.set()
            first_left.wait(60)
            seen.append(blas_threads())

    workers = [threading.Thread(target=work) for work in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert seen == [{1}]  # still capped although the first has left
    assert blas_threads() == before


def test_large_products_keep_their_threads():
    before = blas_threads()
    with single_threaded_blas(1e12):
        assert blas_threads() == before

// Names for assistive technology that the theme does not give: its search is a dialog without a name, the buttons of a
// code block are no navigation, the contents of the reference have one label several times, and wide tables scroll.
"use strict";
function nameLandmarks() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const nav of document.querySelectorAll("nav.md-code__nav")) nav.setAttribute("role", "presentation");
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0;
  for (const nav of document.querySelectorAll("nav.md-nav--secondary nav.md-nav")) {
    const place = nav.previousElementSibling?.hash;
    if (place) nav.setAttribute("aria-label", decodeURIComponent(place.slice(1)));
  }
}
nameLandmarks();
new MutationObserver(nameLandmarks).observe(document.body, { childList: true, subtree: true });

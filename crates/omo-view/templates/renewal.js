"use strict";
(() => {
  const bar = document.getElementById("renewal");
  const [note, button] = bar.children;
  const seconds = Number(bar.dataset.seconds);
  const memory = "omo " + location.pathname;
  const folds = "details", boxes = ".picture", stops = "a, summary, button, [tabindex]";

  // What is below one id keeps its place there, also where the page has grown elsewhere.
  const home = (element) => element.parentElement.closest("[id]") || document;
  const name = (element, kind) =>
    (home(element).id || "") + " " + Array.from(home(element).querySelectorAll(kind)).indexOf(element);
  const find = (named, kind) => {
    const [id, place] = named.split(" ");
    const from = id ? document.getElementById(id) : document;
    return from && from.querySelectorAll(kind)[place];
  };
  const all = (kind) => Array.from(document.querySelectorAll(kind));

  const written = new Map(all(folds).map((fold) => [fold, fold.open]));
  let paused = false;
  const show = () => {
    note.textContent = paused ? "Paused." : "Renews itself every " + seconds + " s.";
    button.textContent = paused ? "Go on" : "Pause";
  };
  show();
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    show();
  });

  // A browser may refuse to remember anything. The page is then shown as it was written.
  const attempt = (action) => {
    try {
      action();
    } catch { /* There is nothing to tell its reader. */ }
  };
  attempt(() => {
    const kept = JSON.parse(sessionStorage.getItem(memory));
    if (!kept) return;
    paused = kept.paused;
    show();
    for (const [named, open] of kept.folds) {
      const fold = find(named, folds);
      if (fold) fold.open = open;
    }
    for (const [named, left, top] of kept.boxes) {
      const box = find(named, boxes);
      if (box) box.scrollTo(left, top);
    }
    const focused = kept.focus && find(kept.focus, stops);
    if (focused) focused.focus({ preventScroll: true });
  });
  addEventListener("pagehide", () => {
    const active = document.activeElement;
    const state = {
      paused,
      focus: active && active.matches(stops) ? name(active, stops) : null,
      folds: all(folds).filter((fold) => fold.open !== written.get(fold)).map((fold) => [name(fold, folds), fold.open]),
      boxes: all(boxes).map((box) => [name(box, boxes), box.scrollLeft, box.scrollTop]),
    };
    attempt(() => sessionStorage.setItem(memory, JSON.stringify(state)));
  });

  setInterval(() => {
    const selection = getSelection();
    const reads = selection && !selection.isCollapsed;
    if (!paused && !reads && !document.hidden) location.reload();
  }, seconds * 1000);
})();

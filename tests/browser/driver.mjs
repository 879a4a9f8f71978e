// Opens pages in one headless Chromium and tells what is there, as JSON; what is right the tests judge.
// Called with the path of a JSON file: {modules, browser, profile, pages: [{name, file}], pictures, followed}.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const load = createRequire(join(job.modules, "x.js"));
const puppeteer = load("puppeteer-core");
const AXE = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const VIEWS = [
  { name: "light", scheme: "light", width: 1280 },
  { name: "dark", scheme: "dark", width: 1280 },
  { name: "narrow light", scheme: "light", width: 360 },
  { name: "narrow dark", scheme: "dark", width: 360 },
];

// Runs in the page: what stands there.
function content() {
  const text = (element) => element.textContent.replace(/\s+/g, " ").trim();
  const all = (selector) => [...document.querySelectorAll(selector)];
  const elements = {};
  for (const element of all("*")) {
    const attributes = (elements[element.localName] ??= []);
    for (const name of element.getAttributeNames()) if (!attributes.includes(name)) attributes.push(name);
  }
  return {
    title: document.title,
    verdict: text(document.querySelector(".sentence") ?? document.createElement("p")),
    tone: document.querySelector("header.verdict")?.className ?? "",
    headings: all("h1, h2, h3").map(text),
    cards: all("article").map((card) => ({ id: card.id, heading: text(card.querySelector("h3")), tone: card.className })),
    links: all("a").map((link) => {
      const target = link.getAttribute("href") ?? "";
      const found = target.startsWith("#") && document.getElementById(target.slice(1));
      return { target, exists: Boolean(found), isOfGraph: Boolean(link.closest("svg.graph")) };
    }),
    elements,
    text: document.body.textContent,
    // What a reader sees, with everything that can be opened open.
    shown: (() => {
      for (const fold of all("details")) fold.open = true;
      return document.body.innerText;
    })(),
    traces: Object.keys(globalThis).filter((name) => name.startsWith("hostile")),
  };
}

// Runs in the page: what has the focus, and whether that is seen.
function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element);
  const inner = [...element.querySelectorAll("rect")].some((rect) => parseFloat(getComputedStyle(rect).strokeWidth) >= 3);
  const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  const box = element.getBoundingClientRect();
  const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const all = [...document.querySelectorAll("*")];
  return { place: all.indexOf(element), name: element.outerHTML.slice(0, 120), isSeen: (outline || inner) && isInView };
}

// Runs in the page: what a keyboard has to reach.
function reachable() {
  const all = [...document.querySelectorAll("*")];
  const isShown = (element) => element.checkVisibility({ checkVisibilityCSS: true });
  return all.flatMap((element, place) => (element.matches("a[href], summary, [tabindex='0']") && isShown(element) ? [place] : []));
}

async function open(browser, page, options = {}) {
  const context = await browser.createBrowserContext();
  const tab = await context.newPage();
  const seen = { requests: [], logged: [] };
  const url = pathToFileURL(page.file).href;
  tab.on("request", (request) => request.url() !== url && seen.requests.push(request.url()));
  tab.on("console", (message) => seen.logged.push(`${message.type()}: ${message.text()}`));
  tab.on("pageerror", (error) => seen.logged.push(`error: ${error.message}`));
  tab.on("dialog", (dialog) => {
    seen.logged.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  if (options.bypassPolicy) await tab.setBypassCSP(true);
  if (options.withoutScript) await tab.setJavaScriptEnabled(false);
  await show(tab, VIEWS[0]);
  await tab.goto(url, { waitUntil: "load" });
  return { tab, seen, close: () => context.close() };
}

async function show(tab, view) {
  await tab.setViewport({ width: view.width, height: 900, deviceScaleFactor: job.pictures ? 1.5 : 1 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: view.scheme }]);
}

// How far the page is wider than its window.
const overflow = (tab) =>
  tab.evaluate(() => document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth);

// The page as far as its first cards.
async function picture(tab, name) {
  const [width, height] = await tab.evaluate(() => {
    const cards = document.querySelectorAll("article");
    const last = cards[Math.min(cards.length, 2) - 1] ?? document.body;
    return [innerWidth, Math.ceil(last.getBoundingClientRect().bottom + scrollY) + 5];
  });
  const clip = { x: 0, y: 0, width, height };
  await tab.screenshot({ path: join(job.pictures, `${name}.webp`), type: "webp", quality: 80, clip, captureBeyondViewport: true });
}

async function walk(tab) {
  const expected = await tab.evaluate(reachable);
  const reached = [];
  const unseen = [];
  for (let count = 0; count < expected.length + 2; count += 1) {
    await tab.keyboard.press("Tab");
    const focus = await tab.evaluate(focused);
    if (!focus || reached.includes(focus.place)) break;
    reached.push(focus.place);
    if (!focus.isSeen) unseen.push(focus.name);
  }
  // Back to how one finds the page.
  await tab.evaluate(() => {
    document.activeElement?.blur();
    scrollTo(0, 0);
    for (const element of document.querySelectorAll("*")) element.scrollTo(0, 0);
  });
  return { expected: expected.length, reached: expected.filter((place) => reached.includes(place)).length, unseen };
}

async function print(tab, page) {
  const pdf = Buffer.from(await tab.pdf({ format: "A4", tagged: true, printBackground: true, preferCSSPageSize: true }));
  if (job.pictures) writeFileSync(join(job.pictures, `${page.name}.pdf`), pdf);
  const count = (pattern) => pdf.toString("latin1").match(pattern)?.length ?? 0;
  await tab.setViewport({ width: 688, height: 1000 });
  await tab.emulateMediaType("print");
  const shown = await tab.evaluate(() => document.body.innerText);
  const folds = await tab.evaluate(() => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    // What is hidden is laid out where its box is asked for: that of the fold tells whether it has room.
    const height = (element) => element.getBoundingClientRect().height;
    const shown = closed.filter((fold) => height(fold) > height(fold.firstElementChild) + 5);
    return { closed: closed.length, shown: shown.length };
  });
  const sheets = count(/\/Type\s*\/Page\b/g);
  const paper = { sheets, fonts: count(/\/ToUnicode/g), shown, folds, overflow: await overflow(tab) };
  await tab.emulateMediaType("screen");
  return paper;
}

async function look(browser, page) {
  const told = { name: page.name, views: [] };
  const { tab, seen, close } = await open(browser, page);
  told.keyboard = await walk(tab);
  told.paper = await print(tab, page);
  for (const view of VIEWS) {
    await show(tab, view);
    told.views.push({ name: view.name, overflow: await overflow(tab) });
    if (job.pictures) await picture(tab, `${page.name}-${view.name.replace(" ", "-")}`);
  }
  told.content = await tab.evaluate(content);
  await tab.evaluate(AXE);
  for (const view of told.views) {
    await show(tab, VIEWS.find((known) => known.name === view.name));
    view.overflow = Math.max(view.overflow, await overflow(tab));
    // What the bar at the top lies on where the page was moved is no finding.
    await tab.evaluate(() => scrollTo(0, 0));
    const axe = await tab.evaluate(
      (tags) => {
        const rules = { "target-size": { enabled: true } };
        return globalThis.axe.run({ runOnly: { type: "tag", values: tags }, rules, resultTypes: ["violations"] });
      },
      AXE_TAGS,
    );
    view.violations = axe.violations.flatMap((rule) =>
      rule.nodes.slice(0, 5).map((node) => `${rule.id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`),
    );
    view.rulesPassed = axe.passes.length;
  }
  Object.assign(told, seen);
  await close();

  const plain = await open(browser, page, { withoutScript: true });
  told.shownWithoutScript = (await plain.tab.evaluate(content)).shown;
  await plain.close();

  // Without the policy of the page, which is not to be all that stands between a text and a script.
  const bare = await open(browser, page, { bypassPolicy: true });
  const { traces, elements } = await bare.tab.evaluate(content);
  told.withoutPolicy = { traces, elements, ...bare.seen };
  await bare.close();
  return told;
}

// Opens a page that is written anew meanwhile, opens its first fold, says so by a file, and waits until the page has
// renewed itself: it shows the text that is written then, and the fold is open still.
async function follow(browser, followed) {
  const { tab, seen, close } = await open(browser, followed);
  await tab.evaluate(() => (document.querySelector("details").open = true));
  writeFileSync(followed.ready, "");
  const isRenewed = (text) => document.body.innerText.includes(text) && document.querySelector("details").open;
  await tab.waitForFunction(isRenewed, { timeout: 120_000, polling: 250 }, followed.text);
  await close();
  return seen;
}

const isRoot = process.getuid?.() === 0;
const browser = await puppeteer.launch({
  executablePath: job.browser,
  headless: true,
  protocolTimeout: 600_000,
  userDataDir: job.profile,
  // Chromium refuses to isolate its parts for root.
  args: ["--disable-gpu", "--disable-dev-shm-usage", ...(isRoot ? ["--no-sandbox"] : [])],
});
try {
  const told = [];
  for (const page of job.pages) told.push(await look(browser, page));
  const followed = job.followed && (await follow(browser, job.followed));
  process.stdout.write(JSON.stringify({ browser: await browser.version(), pages: told, followed }));
} finally {
  await browser.close();
}

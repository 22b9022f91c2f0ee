// What is known of the map on show: its numbers, where to get it, and the command that does.

import { curlLine, fileName, imageAddress, mapAddress } from "./api.js";
import { element } from "./element.js";
import { numberText } from "./parameters.js";

/** The facts of a map in words, from its headers, as pairs of a term and a text. */
export function factPairs(facts, milliseconds) {
  const per = facts.unit && facts.unit !== "1" ? `per ${facts.unit}` : "per 1 (pure number)";
  const ends = (facts.rescale ?? "").match(/[^\s[\],]+/g) ?? [];
  const clipped = Number(facts.clipped) || 0;
  return [
    ["Values", `${numberText(facts.min)} to ${numberText(facts.max)}`],
    ["Colours", `${ends.map(numberText).join(" to ")}${clipped ? `, ${clipped} beyond` : ""}`],
    ["Unit", per],
    ["Mean, RMS", `${numberText(facts.mean)}, ${numberText(facts.rms)}`],
    ["NaN", countText(facts.nan, "drawn transparent")],
    ...(Number(facts.inf) ? [["Infinite", countText(facts.inf, "drawn at the end")]] : []),
    ["Strategy", facts.strategy],
    ["Differences", facts.agreement ? `agree to ${numberText(facts.agreement)}` : "not compared"],
    ["Warnings", (facts.warnings ?? "none").replaceAll(",", ", ").replaceAll("_", " ")],
    ["Shape", (facts.shape ?? "").replaceAll(",", " × ")],
    ["Took", durationText(milliseconds)],
  ];
}

function countText(count, meaning) {
  return Number(count) ? `${count}, ${meaning}` : "none";
}

export function durationText(milliseconds) {
  return milliseconds < 1000
    ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function showDetails(place, choice, { facts, milliseconds }) {
  const pairs = factPairs(facts, milliseconds);
  const list = element("dl", { className: "facts" }, pairs.map(([term, text]) =>
    element("div", { className: warns(term, text) ? "warns" : "" },
      element("dt", {}, term), element("dd", {}, text))));
  place.replaceChildren(
    element("h2", {}, `d(image)/d(${choice.wrt})`), list, downloads(choice), curl(choice));
  place.classList.remove("old");
  place.hidden = false;
}

function warns(term, text) {
  return ["NaN", "Infinite", "Warnings"].includes(term) && text !== "none";
}

function downloads(choice) {
  const link = (href, name, text) => element("a", { href, download: name }, text);
  const maps = ["png", "npy", "npz"].map((format) =>
    link(mapAddress(choice, format), fileName(choice, format), `.${format}`));
  const images = ["png", "npy"].map((format) =>
    link(imageAddress(choice, format), fileName(choice, format, ""), `.${format}`));
  return element("p", { className: "downloads" },
    element("span", {}, "Download the map"), maps, element("span", {}, "the image"), images);
}

function curl(choice) {
  const code = element("code", {}, curlLine(choice));
  const button = element("button", { type: "button" }, "Copy as curl");
  button.addEventListener("click", async () => {
    button.textContent = (await copied(code)) ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy as curl"), 2000);
  });
  return element("div", { className: "curl" },
    element("pre", { tabIndex: 0, attributes: { "aria-label": "The command" } }, code), button);
}

/** Copy an element's text. Off localhost and without TLS a page has no clipboard: then select it. */
async function copied(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    return document.execCommand("copy");
  }
}

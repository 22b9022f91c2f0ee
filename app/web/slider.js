// One entry of a parameter: a slider and a number field that say the same.

import { element } from "./element.js";
import { numberText, sliderRange } from "./parameters.js";

const STEPS = 240;
const MANY_TIMES = 50; // a range from a to more than 50 a is walked by factors, not by steps

/**
 * The two inputs of an entry: `{range, number}`.
 * `changed(value)` is called with every new number, NaN where the field holds none.
 */
export function slider({ label, info, start, value, changed, describedBy = "" }) {
  const scale = scaleOf(sliderRange(info, start));
  const attributes = describedBy ? { "aria-describedby": describedBy } : {};
  const range = element("input", {
    type: "range", min: 0, max: STEPS, step: 1,
    attributes: { ...attributes, "aria-label": label },
  });
  const number = element("input", {
    type: "number", step: "any", min: info.low ?? "", max: info.high ?? "", inputMode: "decimal",
    attributes: { ...attributes, "aria-label": `${label}, as a number` },
  });
  const showRange = (at) => {
    range.value = String(scale.place(at));
    range.style.setProperty("--filled", `${(100 * scale.place(at)) / STEPS}%`);
    range.setAttribute("aria-valuetext", `${numberText(at)} ${info.unit}`.trim());
  };
  const showNumber = (at) => {
    number.value = Number.isFinite(at) ? String(at) : "";
  };
  const judge = (at) => number.setAttribute("aria-invalid", String(!allowed(info, at)));
  range.addEventListener("input", () => {
    const at = scale.value(Number(range.value));
    showRange(at);
    showNumber(at);
    judge(at);
    changed(at);
  });
  number.addEventListener("input", () => {
    const at = number.value.trim() === "" ? NaN : Number(number.value);
    if (Number.isFinite(at)) showRange(at);
    judge(at);
    changed(at);
  });
  showRange(value);
  showNumber(value);
  judge(value);
  return { range, number };
}

function allowed({ low, high }, at) {
  return Number.isFinite(at) && (low === null || at >= low) && (high === null || at <= high);
}

/** From the place of a slider, 0 to STEPS, to a value and back. */
function scaleOf({ low, high }) {
  const byFactors = low > 0 && high / low > MANY_TIMES;
  const [to, from] = byFactors ? [Math.log, Math.exp] : [(x) => x, (x) => x];
  const [first, last] = [to(low), to(high)];
  const digits = Math.max(0, Math.ceil(-Math.log10((high - low) / STEPS)));
  const rounded = (x) => Number(byFactors ? x.toPrecision(3) : x.toFixed(Math.min(digits, 20)));
  const held = (x) => Math.min(Math.max(x, low), high);
  return {
    place: (value) => Math.round((STEPS * (to(held(value)) - first)) / (last - first)),
    value: (place) => held(rounded(from(first + (place / STEPS) * (last - first)))),
  };
}

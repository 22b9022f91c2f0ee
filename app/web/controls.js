// The controls: which renderer, against what, how large, and a slider for each entry of each
// parameter, all made from the declarations that the server gives.

import { firstChoice } from "./choice.js";
import { element } from "./element.js";
import {
  boundsText, defaults, entryNames, hasSliders, size, wrtChoices,
} from "./parameters.js";
import { slider } from "./slider.js";

export class Controls {
  #places;
  #renderers;
  #limits;
  #changed;
  #choice = null;

  /** `changed(choice, now)` is called with every new choice; `now` when it is no passing one. */
  constructor(places, { renderers, limits }, changed) {
    this.#places = places;
    this.#renderers = renderers;
    this.#limits = limits;
    this.#changed = changed;
  }

  /** Show a choice, all controls made anew. */
  show(choice) {
    this.#choice = choice;
    this.#places.chooser.replaceChildren(...this.#chooser());
    this.#places.sliders.replaceChildren(...this.#sliders());
    this.#mark();
  }

  #change(part, { now = false } = {}) {
    this.#choice = { ...this.#choice, ...part };
    this.#changed(this.#choice, now);
  }

  #chooser() {
    const { renderer } = this.#choice;
    return [
      field("Renderer", this.#rendererSelect()),
      element("p", { className: "summary" }, renderer.summary),
      ...about(renderer),
      field("Differentiate with respect to", this.#wrtSelect()),
      element("div", { className: "row" },
        this.#wholeField("Width", "width", 1, this.#limits.max_side),
        element("span", { className: "times", attributes: { "aria-hidden": "true" } }, "×"),
        this.#wholeField("Height", "height", 1, this.#limits.max_side),
        renderer.random && this.#wholeField("Seed", "seed", 0, 999999999)),
    ];
  }

  #rendererSelect() {
    const select = element("select", { id: "renderer" }, this.#renderers.map(({ name }) => option(name)));
    select.value = this.#choice.renderer.name;
    select.addEventListener("change", () => {
      const { width, height } = this.#choice;
      const renderer = this.#renderers.find(({ name }) => name === select.value);
      this.show({ ...firstChoice(renderer), width, height });
      document.getElementById("renderer").focus();
      this.#changed(this.#choice, true);
    });
    return select;
  }

  #wrtSelect() {
    const { renderer, wrt } = this.#choice;
    const groups = wrtChoices(renderer.params).map(({ name, choices }) => {
      const options = choices.map((one) => option(one.wrt, one.panels > 1 ? `${one.wrt} (${one.panels} panels)` : one.wrt));
      return options.length > 1 ? element("optgroup", { label: name }, options) : options;
    });
    const select = element("select", { id: "wrt" }, groups.flat());
    if (wrt && ![...select.options].some(({ value }) => value === wrt)) select.append(option(wrt));
    select.addEventListener("change", () => this.#against(select.value));
    return select;
  }

  #against(wrt) {
    this.#change({ wrt }, { now: true });
    this.#mark();
  }

  /** Mark what the map is taken with respect to, in the list and at the sliders. */
  #mark() {
    const { wrt } = this.#choice;
    document.getElementById("wrt").value = wrt;
    for (const button of this.#places.sliders.querySelectorAll("button[data-wrt]")) {
      button.setAttribute("aria-pressed", String(button.dataset.wrt === wrt));
    }
  }

  #wholeField(label, name, min, max) {
    const input = element("input", {
      type: "number", min, max, step: 1, value: this.#choice[name], inputMode: "numeric",
    });
    input.addEventListener("change", () => {
      this.#change({ [name]: input.value === "" ? NaN : Number(input.value) }, { now: true });
    });
    return field(label, input);
  }

  #sliders() {
    const { renderer } = this.#choice;
    const reset = element("button", { type: "button", className: "quiet" }, "Reset");
    reset.addEventListener("click", () => {
      const { values } = firstChoice(renderer);
      this.#change({ values }, { now: true });
      this.show(this.#choice);
      this.#places.sliders.querySelector("button").focus();
    });
    return [
      element("header", {}, element("h2", {}, "Parameters"), reset),
      ...Object.entries(renderer.params).map(([name, info]) => this.#parameter(name, info)),
    ];
  }

  #parameter(name, info) {
    const note = `about-${name}`;
    const said = [info.help, info.unit && `in ${info.unit}`, boundsText(info)].filter(Boolean);
    const shape = info.shape.length ? ` [${info.shape.join(" × ")}]` : "";
    const body = hasSliders(info)
      ? entryNames(name, info).map((wrt, place) => this.#entry(wrt, name, info, place, note))
      : [element("p", { className: "unshown" },
          `${size(info)} numbers, too many for sliders: they stay at their default here. `
          + "The API takes them in a request's body.")];
    const single = info.shape.length === 0;
    return element("fieldset", { className: single ? "parameter single" : "parameter" },
      element("legend", {},
        this.#againstButton(name, size(info)),
        element("span", { className: "name" }, name),
        element("span", { className: "shape" }, shape)),
      element("p", { className: "note", id: note }, said.join(" · ")),
      body);
  }

  #entry(wrt, name, info, place, note) {
    const { range, number } = slider({
      label: wrt, info, start: defaults(info)[place], value: this.#choice.values[name][place],
      describedBy: note,
      changed: (value) => {
        const numbers = this.#choice.values[name].with(place, value);
        this.#change({ values: { ...this.#choice.values, [name]: numbers } });
      },
    });
    const head = wrt === name ? null : this.#againstButton(wrt, 1, wrt.slice(name.length));
    return element("div", { className: "entry" }, head, range, number);
  }

  #againstButton(wrt, panels, text = "∂") {
    if (!wrtChoices(this.#choice.renderer.params).some(({ choices }) => choices.some((one) => one.wrt === wrt))) {
      return null;
    }
    const title = `Differentiate with respect to ${wrt}${panels > 1 ? `, ${panels} panels` : ""}`;
    const button = element("button", {
      type: "button", className: "against", title, attributes: { "aria-label": title, "aria-pressed": "false" },
    }, text);
    button.dataset.wrt = wrt;
    button.addEventListener("click", () => this.#against(wrt));
    return button;
  }
}

function about({ name, doc, kind, channels }) {
  const rest = doc.split("\n").slice(1).join("\n").trim();
  const facts = `${kind === "pixel" ? "Pixel" : "Frame"} renderer, channels ${channels.join(", ")}.`;
  return [element("details", {},
    element("summary", {}, `About ${name}`),
    element("p", {}, facts),
    rest && element("pre", { tabIndex: 0 }, rest))];
}

function option(value, text = value) {
  return element("option", { value }, text);
}

function field(label, input) {
  return element("label", { className: "field" }, element("span", {}, label), input);
}

/** What did not load, with the reasons. */
export function showFailures(place, failures) {
  const names = Object.keys(failures);
  place.hidden = names.length === 0;
  place.replaceChildren(
    element("h2", {}, "Did not load"),
    element("dl", {}, names.flatMap((name) => [
      element("dt", {}, name), element("dd", {}, failures[name]),
    ])));
}

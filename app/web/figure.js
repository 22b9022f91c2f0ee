// One picture of the page: the image itself, its caption, and whether a newer one is on its way.

import { element } from "./element.js";

export class Figure {
  #img = element("img", { alt: "", hidden: true, decoding: "async" });
  #link = element("a", { target: "_blank", rel: "noopener", className: "frame" }, this.#img);
  #caption = element("figcaption");
  #kept = ""; // the object URL on show
  node = element("figure", {}, this.#link, this.#caption);

  constructor(title) {
    this.title = title;
    this.node.classList.add("empty");
    this.#say("");
  }

  /**
   * Show a picture: `{blob, alt, href, note}`. With `isCoarse` the place keeps its shape, so that
   * nothing moves when the whole picture follows.
   */
  async show({ blob, alt, href, note, isCoarse }, signal) {
    const url = URL.createObjectURL(blob);
    const decoded = element("img", { src: url });
    try {
      await decoded.decode();
      signal.throwIfAborted();
    } catch (error) {
      URL.revokeObjectURL(url);
      throw error;
    }
    if (!isCoarse || !this.#kept) this.#shape(decoded.naturalWidth, decoded.naturalHeight);
    Object.assign(this.#img, { src: url, alt, hidden: false });
    Object.assign(this.#link, { href, title: "Open in a new tab" });
    this.node.classList.remove("empty");
    this.#say(note);
    URL.revokeObjectURL(this.#kept);
    this.#kept = url;
    this.busy(false);
  }

  /** Show nothing: what was there is no answer to what is asked now. */
  clear(note = "") {
    Object.assign(this.#img, { hidden: true, alt: "" });
    this.#img.removeAttribute("src");
    this.#link.removeAttribute("href");
    URL.revokeObjectURL(this.#kept);
    this.#kept = "";
    this.node.classList.add("empty");
    this.#say(note);
    this.busy(false);
  }

  busy(is) {
    this.node.classList.toggle("busy", is);
    this.node.setAttribute("aria-busy", String(is));
  }

  /** Figures side by side share the width so that their pixels are equally large. */
  #shape(width, height) {
    this.node.style.setProperty("--aspect", `${width} / ${height}`);
    this.node.style.setProperty("--grow", String(width));
  }

  #say(note) {
    this.#caption.replaceChildren(
      element("strong", {}, this.title), note && element("span", { className: "note" }, note));
  }
}

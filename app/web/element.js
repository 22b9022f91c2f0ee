// Making elements. Text goes in as text, never as markup, so that no title can bring a script along.

/**
 * A new element. Properties are set as properties; those in `attributes` as attributes.
 * Children are nodes or strings; null and false are left out.
 */
export function element(tag, properties = {}, ...children) {
  const { attributes = {}, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flat().filter((child) => child !== null && child !== false));
  return made;
}

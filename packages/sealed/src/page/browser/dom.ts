/** Elements, made one by one: there is no way here to turn text into markup. */

type Attributes = Readonly<Record<string, string | boolean>>

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  write(made, attributes)
  made.append(...children)
  return made
}

/** A part of a drawing; decoration unless it has a role. */
export function drawing<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...children: readonly SVGElement[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  write(made, attributes)
  if (tag === 'svg' && !made.hasAttribute('role')) made.setAttribute('aria-hidden', 'true')
  made.append(...children)
  return made
}

function write(made: Element, attributes: Attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? '' : value)
  }
}

let made = 0

/** An id for labels and descriptions to point to. */
export function newId(): string {
  return `e${++made}`
}

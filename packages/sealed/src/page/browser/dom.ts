/** Creates elements one by one: nothing here turns text into markup. */

type Attributes = Readonly<Record<string, string | boolean>>

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag)
  setAttributes(created, attributes)
  created.append(...children)
  return created
}

/** An SVG element, hidden from screen readers unless it has a role. */
export function drawing<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...children: readonly SVGElement[]
): SVGElementTagNameMap[Tag] {
  const created = document.createElementNS('http://www.w3.org/2000/svg', tag)
  setAttributes(created, attributes)
  if (tag === 'svg' && !created.hasAttribute('role')) created.setAttribute('aria-hidden', 'true')
  created.append(...children)
  return created
}

function setAttributes(target: Element, attributes: Attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) target.setAttribute(name, value === true ? '' : value)
  }
}

let idCount = 0

/** An id for labels and descriptions. */
export function newId(): string {
  return `e${++idCount}`
}

export function requireElement(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`The page has no element "${id}"`)
  return found
}

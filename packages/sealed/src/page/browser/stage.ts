/** What is shown: a statement on one side, the thing itself on a plate on the other. */
import { element } from './dom.ts'
import { bind, releaseRemoved, say, text, type TextKey } from './language.ts'

export interface Scene {
  /** For the style sheet. */
  name: string
  title: TextKey
  lede: TextKey | (() => string)
  plate: HTMLElement
  /** A drawing above the title. */
  emblem?: SVGElement
  /** Further words, below the plate where there is one column only. */
  aside?: HTMLElement
}

const stage = requireElement('stage')
const status = requireElement('status')
let isFirst = true

/** Replaces what is shown. */
export function show({ name, title, lede, plate, emblem, aside }: Scene) {
  const heading = say(element('h1', { tabindex: '-1' }), title)
  const words = element(
    'div',
    { class: 'words' },
    ...(emblem ? [emblem] : []),
    heading,
    say(element('p', { class: 'lede' }), lede),
  )
  plate.classList.add('plate')
  stage.className = `stage stage-${name}`
  stage.replaceChildren(words, plate, ...(aside ? [aside] : []))
  releaseRemoved()
  bind(heading, () => {
    document.title = `${text(title).replace(/[.。]$/, '')} · Sealed`
  })
  // On arrival a reader begins at the top, as on any page; later the title is heard, and the rest.
  if (isFirst) {
    isFirst = false
    return
  }
  heading.focus({ preventScroll: true })
  scrollTo({ top: 0 })
  announce(typeof lede === 'string' ? text(lede) : lede())
}

/** Tells it to those who hear the page; the same text is read out again too. */
export function announce(what: string) {
  status.replaceChildren(element('span', {}, what))
}

export function requireElement(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`The page has no element "${id}"`)
  return found
}

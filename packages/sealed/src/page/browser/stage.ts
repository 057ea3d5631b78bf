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
  /** What has the focus; the title unless told. */
  focus?: HTMLElement
}

const stage = requireElement('stage')
const status = requireElement('status')
let isFirst = true

/** Replaces what is shown. */
export function show({ name, title, lede, plate, emblem, aside, focus }: Scene) {
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
  // On arrival a reader begins at the top, as on any page.
  if (!isFirst || focus) (focus ?? heading).focus({ preventScroll: true })
  if (!isFirst) scrollTo({ top: 0 })
  isFirst = false
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

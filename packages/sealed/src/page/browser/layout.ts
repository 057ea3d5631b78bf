/** The layout of every view: a title with an introduction, and the content. */
import { element, requireElement } from './dom.ts'
import { dropDetached, onLanguageChange, setText, text, type TextKey } from './language.ts'
import { pageName } from './options.ts'

export interface Screen {
  /** For the style sheet. */
  name: string
  title: TextKey
  intro: TextKey | (() => string)
  content: HTMLElement
  /** Above the title. */
  icon?: SVGElement
  /** More text, below the content where there is only one column. */
  aside?: HTMLElement
}

const stage = requireElement('stage')
const status = requireElement('status')
let isFirst = true
let current = ''

/** Whether this view is shown. */
export function isCurrentScreen(name: string): boolean {
  return current === name
}

/** Whether the secret or the new links that are shown exist nowhere else. */
export function isFinalScreen(): boolean {
  return current === 'shown' || current === 'sealed'
}

/** Below every view until they are removed. */
const notices = new Set<HTMLElement>()

export function addNotice(notice: HTMLElement) {
  notices.add(notice)
  stage.append(notice)
}

export function removeNotice(notice: HTMLElement) {
  notices.delete(notice)
  notice.remove()
}

export function showScreen({ name, title, intro, content, icon, aside }: Screen) {
  const heading = setText(element('h1', { tabindex: '-1' }), title)
  const words = element(
    'div',
    { class: 'words' },
    ...(icon ? [icon] : []),
    heading,
    setText(element('p', { class: 'lede' }), intro),
  )
  content.classList.add('plate')
  current = name
  stage.className = `stage stage-${name}`
  stage.replaceChildren(words, content, ...(aside ? [aside] : []), ...notices)
  dropDetached()
  onLanguageChange(heading, () => {
    document.title = `${text(title).replace(/[.。]$/, '')} · ${pageName}`
  })
  // On arrival, screen readers start at the top as on any page. Later they read the new title.
  if (isFirst) {
    isFirst = false
    return
  }
  heading.focus({ preventScroll: true })
  scrollTo({ top: 0 })
  announce(typeof intro === 'string' ? text(intro) : intro())
}

/** For screen readers. A new element is read out even if its text is the same. */
export function announce(message: string) {
  status.replaceChildren(element('span', {}, message))
}

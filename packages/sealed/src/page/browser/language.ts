/** The texts of the page. Elements stay bound to their texts, so that the language can change at any time. */
import { type TextKey, texts } from '../languages.ts'
import { element, requireElement } from './dom.ts'

export type { TextKey }
type PluralKey = TextKey extends infer Key
  ? Key extends `${infer Stem}.other`
    ? Stem
    : never
  : never
type Values = Readonly<Record<string, string>>

type Language = keyof typeof texts

const STORAGE_KEY = 'sealed.language'

let current = storedLanguage() ?? preferredLanguage()

/** Called when the language changes: one listener and one text for each element. */
const languageListeners = new Map<Element, () => void>()
const textBindings = new Map<Element, () => void>()

/** The visitor's regional variant of the language, for dates and numbers. */
export function currentLocale(): string {
  return navigator.languages.find((tag) => languageOf(tag) === current && isLocale(tag)) ?? current
}

/** Some browsers report the name of a system locale, such as `en-US@posix`, which Intl rejects. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

export function text(key: TextKey, values: Values = {}): string {
  return texts[current][key].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}

export function plural(key: PluralKey, count: number, values: Values = {}): string {
  const form = new Intl.PluralRules(current).select(count) === 'one' ? 'one' : 'other'
  return text(`${key}.${form}`, { count: String(count), ...values })
}

/** Runs `update` now and whenever the language changes. */
export function onLanguageChange<E extends Element>(target: E, update: (target: E) => void): E {
  languageListeners.set(target, () => update(target))
  update(target)
  return target
}

/** Sets the text of the element, in the language that is current at any time. */
export function setText<E extends Element>(target: E, content: TextKey | (() => string)): E {
  const write = () => {
    target.textContent = typeof content === 'string' ? text(content) : content()
  }
  textBindings.set(target, write)
  write()
  return target
}

let kept: Element | undefined

/** Keeps the bindings in this element while it is removed from the page, until the next call. */
export function keepBindings(root: Element | undefined) {
  kept = root
}

/** Drops the bindings of elements that were removed from the page. */
export function dropDetached() {
  for (const bound of [languageListeners, textBindings]) {
    for (const target of bound.keys())
      if (!target.isConnected && !kept?.contains(target)) bound.delete(target)
  }
}

/** The language menu in the header. */
export function showLanguageMenu() {
  const options = Object.entries(texts).map(([tag, { name }]) =>
    element('option', { value: tag, lang: tag }, name),
  )
  const select = element('select', { class: 'language' }, ...options)
  select.value = current
  select.addEventListener('change', () => setLanguage(select.value))
  requireElement('languages').replaceChildren(select)
  onLanguageChange(select, () => {
    select.setAttribute('aria-label', text('language'))
    document.documentElement.lang = current
  })
}

function setLanguage(tag: string) {
  if (!isLanguage(tag)) return
  current = tag
  try {
    localStorage.setItem(STORAGE_KEY, tag)
  } catch {
    // Storage may be blocked; then the choice lasts until the page is left.
  }
  dropDetached()
  for (const update of [...languageListeners.values(), ...textBindings.values()]) update()
}

function storedLanguage(): Language | undefined {
  try {
    const tag = localStorage.getItem(STORAGE_KEY)
    return tag !== null && isLanguage(tag) ? tag : undefined
  } catch {
    return undefined
  }
}

function preferredLanguage(): Language {
  return navigator.languages.map(languageOf).find(isLanguage) ?? 'en'
}

function languageOf(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? ''
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(texts, tag)
}

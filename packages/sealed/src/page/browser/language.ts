/** The texts of the page. Everything that is written stays bound to its text, so that a language can be changed at any moment. */
import { type TextKey, texts } from '../languages.ts'

export type { TextKey }
type PluralKey = TextKey extends infer Key
  ? Key extends `${infer Stem}.other`
    ? Stem
    : never
  : never
type Values = Readonly<Record<string, string>>

type Language = keyof typeof texts

export const languages = Object.entries(texts).map(([tag, { name }]) => ({ tag, name }))

const CHOICE = 'sealed.language'

let current = chosen() ?? preferred()

/** What to do again when the language changes: one thing for each element, and its text. */
const bindings = new Map<Element, () => void>()
const sayings = new Map<Element, () => void>()

export function currentLanguage(): Language {
  return current
}

/** How this visitor writes dates and numbers: as at home, if that is the language of the page. */
export function currentLocale(): string {
  return navigator.languages.find((tag) => languageOf(tag) === current) ?? current
}

export function text(key: TextKey, values: Values = {}): string {
  return texts[current][key].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}

export function plural(key: PluralKey, count: number, values: Values = {}): string {
  const form = new Intl.PluralRules(current).select(count) === 'one' ? 'one' : 'other'
  return text(`${key}.${form}`, { count: String(count), ...values })
}

/** Does this to the element now, and again whenever the language changes. */
export function bind<E extends Element>(element: E, update: (element: E) => void): E {
  bindings.set(element, () => update(element))
  update(element)
  return element
}

/** Writes a text into the element, in place of what it said before. */
export function say<E extends Element>(element: E, what: TextKey | (() => string)): E {
  const write = () => {
    element.textContent = typeof what === 'string' ? text(what) : what()
  }
  sayings.set(element, write)
  write()
  return element
}

/** Lets go of what is no longer on the page. */
export function releaseRemoved() {
  for (const kept of [bindings, sayings]) {
    for (const element of kept.keys()) if (!element.isConnected) kept.delete(element)
  }
}

export function useLanguage(tag: string) {
  if (!isLanguage(tag)) return
  current = tag
  try {
    localStorage.setItem(CHOICE, tag)
  } catch {
    // Storage can be forbidden; then the choice holds for this page.
  }
  releaseRemoved()
  for (const update of [...bindings.values(), ...sayings.values()]) update()
}

function chosen(): Language | undefined {
  try {
    const tag = localStorage.getItem(CHOICE)
    return tag !== null && isLanguage(tag) ? tag : undefined
  } catch {
    return undefined
  }
}

function preferred(): Language {
  return navigator.languages.map(languageOf).find(isLanguage) ?? 'en'
}

function languageOf(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? ''
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(texts, tag)
}

/** The choice of the language, in the header. */
import { element } from './dom.ts'
import { bind, currentLanguage, languages, text, useLanguage } from './language.ts'
import { requireElement } from './stage.ts'

export function showLanguages() {
  const options = languages.map(({ tag, name }) =>
    element('option', { value: tag, lang: tag }, name),
  )
  const select = element('select', { class: 'language' }, ...options)
  select.value = currentLanguage()
  select.addEventListener('change', () => useLanguage(select.value))
  requireElement('languages').replaceChildren(select)
  bind(select, () => {
    select.setAttribute('aria-label', text('language'))
    document.documentElement.lang = currentLanguage()
  })
}

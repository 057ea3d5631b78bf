/**
 * The form with a text or file that is not sealed yet, while a link is open in the same tab. It stays in the
 * memory of the page and is never stored: browsers write session storage to disk.
 */
import { button } from './controls.ts'
import { element } from './dom.ts'
import { keepBindings, setText } from './language.ts'
import { startOver } from './navigation.ts'

export interface DraftForm {
  element: HTMLElement
  isEmpty: () => boolean
}

let form: DraftForm | undefined

export function setDraft(created: DraftForm) {
  form = created
  keepBindings(created.element)
}

/** Call it when it has been sealed. */
export function discardDraft() {
  form = undefined
  keepBindings(undefined)
}

/** Undefined if it is empty. */
export function currentDraft(): HTMLElement | undefined {
  return form?.isEmpty() === false ? form.element : undefined
}

/** Whether there is a draft, and another view is shown instead. */
export function hasHiddenDraft(): boolean {
  return currentDraft()?.isConnected === false
}

/** For a view that replaced the form; nothing if that is empty. */
export function draftNotice(): { aside?: HTMLElement } {
  if (!currentDraft()) return {}
  const kept = setText(element('p'), 'draft.kept')
  return { aside: element('div', { class: 'draft' }, kept, button('draft.back', startOver)) }
}

addEventListener('beforeunload', (event) => {
  if (currentDraft()) event.preventDefault()
})

/** Controls of forms: choices, switches, and what is wrong with a field. */
import { element, newId } from './dom.ts'
import { say, type TextKey } from './language.ts'

/** One of a few, all of them in sight. */
export function choice(options: {
  label: TextKey
  values: readonly { value: string; label: () => string }[]
  chosen: string
  onChange?: (value: string) => void
}): { element: HTMLElement; value: () => string } {
  const name = newId()
  let value = options.chosen
  const chips = options.values.map((each) => {
    const input = element('input', {
      type: 'radio',
      name,
      value: each.value,
      checked: each.value === value,
    })
    input.addEventListener('change', () => {
      value = each.value
      options.onChange?.(value)
    })
    return element('label', { class: 'chip' }, input, say(element('span'), each.label))
  })
  const group = element(
    'div',
    { class: 'choice', role: 'radiogroup', 'aria-labelledby': `${name}l` },
    say(element('p', { class: 'label', id: `${name}l` }), options.label),
    element('div', { class: 'chips' }, ...chips),
  )
  return { element: group, value: () => value }
}

/** On or off, with what it means in a few words. */
export function toggle(options: {
  label: TextKey
  hint: TextKey
  onChange?: (isOn: boolean) => void
}): { element: HTMLElement; isOn: () => boolean } {
  const id = newId()
  const input = element('input', {
    id,
    type: 'checkbox',
    role: 'switch',
    'aria-describedby': `${id}h`,
  })
  input.addEventListener('change', () => options.onChange?.(input.checked))
  const words = element(
    'span',
    { class: 'toggle-words' },
    say(element('label', { for: id }), options.label),
    say(element('span', { class: 'hint', id: `${id}h` }), options.hint),
  )
  return {
    element: element('div', { class: 'toggle' }, words, input),
    isOn: () => input.checked,
  }
}

/** What is wrong with a field, next to it; heard when the field gets the focus. */
export function problemOf(field: HTMLElement): {
  element: HTMLElement
  set: (what: TextKey | (() => string)) => void
  clear: () => void
} {
  const id = newId()
  const line = element('p', { class: 'problem', id, hidden: true })
  const described = field.getAttribute('aria-describedby')
  field.setAttribute('aria-describedby', described === null ? id : `${described} ${id}`)
  return {
    element: line,
    set(what) {
      say(line, what)
      line.hidden = false
      field.setAttribute('aria-invalid', 'true')
    },
    clear() {
      // A description is read out from a line that is not shown, too.
      say(line, () => '')
      line.hidden = true
      field.removeAttribute('aria-invalid')
    },
  }
}

export function button(
  label: TextKey,
  onClick: () => void,
  className = 'button',
): HTMLButtonElement {
  const made = say(element('button', { type: 'button', class: className }), label)
  made.addEventListener('click', onClick)
  return made
}

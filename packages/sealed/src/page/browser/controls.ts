/** Form controls: radio groups, switches, field errors, buttons. */
import { element, newId } from './dom.ts'
import { setText, type TextKey } from './language.ts'

export function radioGroup(options: {
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
    return element('label', { class: 'chip' }, input, setText(element('span'), each.label))
  })
  const group = element(
    'div',
    { class: 'choice', role: 'radiogroup', 'aria-labelledby': `${name}l` },
    setText(element('p', { class: 'label', id: `${name}l` }), options.label),
    element('div', { class: 'chips' }, ...chips),
  )
  return { element: group, value: () => value }
}

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
    setText(element('label', { for: id }), options.label),
    setText(element('span', { class: 'hint', id: `${id}h` }), options.hint),
  )
  return {
    element: element('div', { class: 'toggle' }, words, input),
    isOn: () => input.checked,
  }
}

/** An error next to a field; screen readers read it when the field gets the focus. */
export function fieldError(field: HTMLElement): {
  element: HTMLElement
  set: (errorText: TextKey | (() => string)) => void
  clear: () => void
} {
  const id = newId()
  const line = element('p', { class: 'problem', id, hidden: true })
  const described = field.getAttribute('aria-describedby')
  field.setAttribute('aria-describedby', described === null ? id : `${described} ${id}`)
  return {
    element: line,
    set(errorText) {
      setText(line, errorText)
      line.hidden = false
      field.setAttribute('aria-invalid', 'true')
    },
    clear() {
      // Screen readers read descriptions even if they are hidden.
      setText(line, () => '')
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
  const created = setText(element('button', { type: 'button', class: className }), label)
  created.addEventListener('click', onClick)
  return created
}

/** How long a secret is kept: a few usual times, or any other. */
import { choice, problemOf } from './controls.ts'
import { element, newId } from './dom.ts'
import { duration, type Unit, UNITS, unitName } from './format.ts'
import { bind, say, text } from './language.ts'

const { minute: MINUTE, hour: HOUR, day: DAY } = UNITS
const LEAST = 15 * MINUTE
const MOST = 90 * DAY
const PRESETS = [LEAST, HOUR, DAY, 7 * DAY, 30 * DAY, MOST]
const CUSTOM = 'custom'

export interface ExpiryChoice {
  element: HTMLElement
  /** Undefined if it is not possible; then it says so, and has the focus. */
  seconds: () => number | undefined
}

export function expiryChoice(): ExpiryChoice {
  const id = newId()
  const amount = element('input', {
    id,
    class: 'input',
    type: 'number',
    inputmode: 'numeric',
    min: '1',
    value: '3',
  })
  const unit = element('select', { id: `${id}u`, class: 'input' })
  for (const name of Object.keys(UNITS)) unit.append(element('option', { value: name }))
  unit.value = 'day'
  bind(unit, nameUnits)
  const problem = problemOf(amount)
  const custom = element(
    'div',
    { class: 'custom', hidden: true },
    say(element('label', { for: id, class: 'unseen' }), 'create.amount'),
    amount,
    say(element('label', { for: `${id}u`, class: 'unseen' }), 'create.unit'),
    unit,
    problem.element,
  )
  const presets = choice({
    label: 'create.expiry',
    values: [
      ...PRESETS.map((seconds) => ({ value: String(seconds), label: () => duration(seconds) })),
      { value: CUSTOM, label: () => text('create.custom') },
    ],
    chosen: String(DAY),
    onChange(value) {
      custom.hidden = value !== CUSTOM
      if (!custom.hidden) amount.focus()
    },
  })
  presets.element.append(custom)
  amount.addEventListener('input', () => {
    problem.clear()
    nameUnits()
  })
  unit.addEventListener('change', () => problem.clear())

  function nameUnits() {
    for (const option of unit.options) {
      option.textContent = unitName(amount.valueAsNumber || 2, option.value as Unit)
    }
  }

  return {
    element: presets.element,
    seconds() {
      if (presets.value() !== CUSTOM) return Number(presets.value())
      const seconds = amount.valueAsNumber * UNITS[unit.value as Unit]
      if (Number.isInteger(seconds) && seconds >= LEAST && seconds <= MOST) return seconds
      problem.set(() => text('create.range', { least: duration(LEAST), most: duration(MOST) }))
      amount.focus()
      return undefined
    },
  }
}

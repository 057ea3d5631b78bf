/** When the secret expires: presets, or a custom time. */
import { MIN_TTL_SECONDS } from '../../../limits.ts'
import { fieldError, radioGroup } from '../controls.ts'
import { element, newId } from '../dom.ts'
import { formatDuration, type Unit, UNITS, unitName } from '../format.ts'
import { onLanguageChange, setText, text } from '../language.ts'
import { secretOptions } from '../options.ts'

const { hour: HOUR, day: DAY } = UNITS
const { defaultTtlSeconds, maxTtlSeconds } = secretOptions
const USUAL = [MIN_TTL_SECONDS, HOUR, DAY, 7 * DAY, 30 * DAY]
const DEFAULTS: ExpiryOptions = {
  minSeconds: MIN_TTL_SECONDS,
  chosenSeconds: defaultTtlSeconds,
  maxSeconds: maxTtlSeconds,
}

interface ExpiryOptions {
  minSeconds: number
  chosenSeconds: number
  maxSeconds: number
}

const CUSTOM = 'custom'

export interface ExpiryField {
  element: HTMLElement
  /** Undefined if the time is out of range; then the field shows why and has the focus. */
  seconds: () => number | undefined
}

export function expiryField(options: ExpiryOptions = DEFAULTS): ExpiryField {
  const { minSeconds, chosenSeconds, maxSeconds } = options
  const durations = [...new Set([...USUAL, chosenSeconds, maxSeconds])]
    .filter((seconds) => seconds >= minSeconds && seconds <= maxSeconds)
    // oxlint-disable-next-line unicorn/no-array-sort -- a new array, and older browsers have no toSorted
    .sort((a, b) => a - b)
  // What "Other…" begins with.
  const days = Math.min(Math.max(3, Math.ceil(minSeconds / DAY)), Math.floor(maxSeconds / DAY))
  const id = newId()
  const amount = element('input', {
    id,
    class: 'input',
    type: 'number',
    inputmode: 'numeric',
    min: '1',
    value: String(days || Math.ceil(minSeconds / UNITS.minute)),
  })
  const unit = element('select', { id: `${id}u`, class: 'input' })
  for (const name of Object.keys(UNITS)) unit.append(element('option', { value: name }))
  unit.value = days > 0 ? 'day' : 'minute'
  onLanguageChange(unit, updateUnitNames)
  const problem = fieldError(amount)
  const custom = element(
    'div',
    { class: 'custom', hidden: true },
    setText(element('label', { for: id, class: 'unseen' }), 'create.amount'),
    amount,
    setText(element('label', { for: `${id}u`, class: 'unseen' }), 'create.unit'),
    unit,
    problem.element,
  )
  const presets = radioGroup({
    label: 'create.expiry',
    values: [
      ...durations.map((seconds) => ({
        value: String(seconds),
        label: () => formatDuration(seconds),
      })),
      { value: CUSTOM, label: () => text('create.custom') },
    ],
    chosen: String(chosenSeconds),
    onChange(value) {
      custom.hidden = value !== CUSTOM
      if (!custom.hidden) amount.focus()
    },
  })
  presets.element.append(custom)
  amount.addEventListener('input', () => {
    problem.clear()
    updateUnitNames()
  })
  unit.addEventListener('change', () => problem.clear())

  function updateUnitNames() {
    for (const option of unit.options) {
      option.textContent = unitName(amount.valueAsNumber || 2, option.value as Unit)
    }
  }

  return {
    element: presets.element,
    seconds() {
      if (presets.value() !== CUSTOM) return Number(presets.value())
      const seconds = amount.valueAsNumber * UNITS[unit.value as Unit]
      if (Number.isInteger(seconds) && seconds >= minSeconds && seconds <= maxSeconds) {
        return seconds
      }
      problem.set(() =>
        text('create.range', {
          least: formatDuration(minSeconds),
          most: formatDuration(maxSeconds),
        }),
      )
      amount.focus()
      return undefined
    },
  }
}

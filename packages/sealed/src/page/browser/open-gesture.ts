/** The button to hold, and an alternative in two steps for those who cannot hold it. */
import { button } from './controls.ts'
import { element, newId } from './dom.ts'
import { seal } from './drawings.ts'
import { HOLD_MS, makeHoldButton } from './hold.ts'
import { setText, text, type TextKey } from './language.ts'
import { announce } from './layout.ts'

/** Too fast for a person: a confirmation this early comes from a program. */
const MIN_READ_MS = 500

export interface OpenGesture {
  element: HTMLElement
  /** While busy, nothing else can be started. */
  setBusy: (isBusy: boolean) => void
  setStatus: (status: () => string) => void
  button: HTMLButtonElement
}

export function openGesture(options: {
  /** Enter can be held in them too. */
  fields: readonly HTMLElement[]
  /** Shows an error if something is missing. */
  isReady: () => boolean
  onOpen: () => void
}): OpenGesture {
  const keys = keyboardHint('open.holdKeys')
  const label = setText(element('span', { class: 'hold-label' }), 'open.hold')
  const hold = element(
    'button',
    { type: 'button', class: 'hold', 'aria-describedby': keys.id },
    seal(),
    label,
  )
  hold.style.setProperty('--hold', `${HOLD_MS}ms`)
  const setState = (name: 'idle' | 'holding' | 'opening', labelText: TextKey) => {
    hold.dataset['state'] = name
    setText(label, labelText)
  }
  setState('idle', 'open.hold')

  makeHoldButton(hold, options.fields, {
    onStart() {
      if (hold.dataset['state'] !== 'idle' || !options.isReady()) return false
      setState('holding', 'open.holding')
      return true
    },
    onStop() {
      if (hold.dataset['state'] === 'opening') return
      setState('idle', 'open.hold')
      announce(text('open.longer'))
    },
    onDone: options.onOpen,
  })

  let confirmationShownAt = 0
  const steps = button('open.steps', () => showConfirmation(true), 'button button-quiet')
  const confirm = button('open.confirm', () => {
    if (performance.now() - confirmationShownAt > MIN_READ_MS && options.isReady()) options.onOpen()
  })
  const question = element(
    'div',
    { class: 'question', hidden: true, role: 'group' },
    setText(element('p', { tabindex: '-1' }), 'open.sure'),
    element(
      'div',
      { class: 'buttons' },
      confirm,
      button('open.later', () => showConfirmation(false)),
    ),
  )

  function showConfirmation(isShown: boolean) {
    if (isShown && !options.isReady()) return
    confirmationShownAt = performance.now()
    question.hidden = !isShown
    steps.hidden = isShown
    const next = isShown ? question.querySelector('p') : steps
    next?.focus()
  }

  return {
    element: element(
      'div',
      { class: 'gesture' },
      hold,
      keys,
      element('div', { class: 'steps' }, steps, question),
    ),
    setBusy(isBusy) {
      setState(isBusy ? 'opening' : 'idle', isBusy ? 'open.opening' : 'open.hold')
      question.hidden = true
      steps.hidden = isBusy
    },
    setStatus: (status) => setText(label, status),
    button: hold,
  }
}

/** The style sheet hides it where the screen is touched. Descriptions are read out even if they are hidden. */
function keyboardHint(key: TextKey): HTMLElement {
  const touch = matchMedia('(hover: none), (pointer: coarse)')
  const hint = element('p', { class: 'hint hold-keys', id: newId() })
  const update = () => setText(hint, () => (touch.matches ? '' : text(key)))
  // A tablet may get a keyboard and a mouse, or lose them.
  touch.addEventListener('change', update)
  return update()
}

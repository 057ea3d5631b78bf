/** The seal to hold, and the two steps for those who cannot. */
import { button } from './controls.ts'
import { element, newId } from './dom.ts'
import { seal } from './drawings.ts'
import { HOLD_MS, holdable } from './hold.ts'
import { say, text, type TextKey } from './language.ts'
import { announce } from './stage.ts'

/** Faster than anybody reads the question: whatever presses so soon has not read it. */
const READ_MS = 500

export interface OpenGesture {
  element: HTMLElement
  /** Whether it is being opened: nothing else can be begun then. */
  busy: (isBusy: boolean) => void
  tell: (what: () => string) => void
  button: HTMLButtonElement
}

export function openGesture(options: {
  /** In which Enter can be held too. */
  fields: readonly HTMLElement[]
  /** Whether everything is there; if not, it says so. */
  isReady: () => boolean
  onOpen: () => void
}): OpenGesture {
  const hint = newId()
  const label = say(element('span', { class: 'hold-label' }), 'open.hold')
  const hold = element(
    'button',
    { type: 'button', class: 'hold', 'aria-describedby': hint },
    seal(),
    label,
  )
  hold.style.setProperty('--hold', `${HOLD_MS}ms`)
  const state = (name: 'idle' | 'holding' | 'opening', what: TextKey) => {
    hold.dataset['state'] = name
    say(label, what)
  }
  state('idle', 'open.hold')

  holdable(hold, options.fields, {
    onStart() {
      if (hold.dataset['state'] !== 'idle' || !options.isReady()) return false
      state('holding', 'open.holding')
      return true
    },
    onStop() {
      if (hold.dataset['state'] === 'opening') return
      state('idle', 'open.hold')
      announce(text('open.longer'))
    },
    onDone: options.onOpen,
  })

  let askedAt = 0
  const steps = button('open.steps', () => ask(true), 'button button-quiet')
  const confirm = button('open.confirm', () => {
    if (performance.now() - askedAt > READ_MS && options.isReady()) options.onOpen()
  })
  const question = element(
    'div',
    { class: 'question', hidden: true, role: 'group' },
    say(element('p', { tabindex: '-1' }), 'open.sure'),
    element(
      'div',
      { class: 'buttons' },
      confirm,
      button('open.later', () => ask(false)),
    ),
  )

  function ask(isAsked: boolean) {
    if (isAsked && !options.isReady()) return
    askedAt = performance.now()
    question.hidden = !isAsked
    steps.hidden = isAsked
    const next = isAsked ? question.querySelector('p') : steps
    next?.focus()
  }

  return {
    element: element(
      'div',
      { class: 'gesture' },
      hold,
      say(element('p', { class: 'hint hold-keys', id: hint }), 'open.holdKeys'),
      element('div', { class: 'steps' }, steps, question),
    ),
    busy(isBusy) {
      state(isBusy ? 'opening' : 'idle', isBusy ? 'open.opening' : 'open.hold')
      question.hidden = true
      steps.hidden = isBusy
    },
    tell: (what) => say(label, what),
    button: hold,
  }
}

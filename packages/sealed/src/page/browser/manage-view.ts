/** What the sender of a secret can do afterwards. */
import type { ReceiptAnswer } from '../../api.ts'
import { RequestFailed } from '../../client/errors.ts'
import { formatLink, type LinkTarget } from '../../crypto/link.ts'
import { burnControl } from './burn-control.ts'
import { button } from './controls.ts'
import { copyField } from './copy.ts'
import { element } from './dom.ts'
import { failureText } from './failure.ts'
import { moment } from './format.ts'
import { say, text, type TextKey } from './language.ts'
import { warnWhile } from './leaving.ts'
import { api, base } from './server.ts'
import { show } from './stage.ts'

const STATES = { pending: 'manage.pending', gone: 'manage.gone' } as const

export function showManage(target: LinkTarget & { kind: 'management' }) {
  const state = element('p', { class: 'receipt-state', role: 'status' })
  const again = button('manage.again', () => void ask())

  async function ask() {
    again.disabled = true
    state.dataset['state'] = 'asking'
    say(state, 'manage.asking')
    try {
      const receipt = await api.receipt(target.id, target.burnToken)
      state.dataset['state'] = receipt.state
      say(state, () => words(receipt))
    } catch (error) {
      state.dataset['state'] = 'none'
      say(state, isNone(error) ? 'manage.none' : failureText(error))
    }
    again.disabled = false
  }

  warnWhile(() => false)
  const plate = element(
    'div',
    { class: 'manage' },
    element('section', { class: 'receipt' }, say(element('h2'), 'manage.receipt'), state, again),
    element(
      'div',
      { class: 'manage-link' },
      copyField({ label: 'sealed.manage', value: formatLink(base, target) }),
    ),
    element('div', { class: 'foot foot-apart' }, burnControl(target)),
  )
  show({ name: 'manage', title: 'manage.title', lede: 'manage.lede', plate })
  void ask()
}

function words({ state, viewedAt = 0 }: ReceiptAnswer): string {
  if (state !== 'viewed') return text(STATES[state] satisfies TextKey)
  return text('manage.viewed', { time: moment(new Date(viewedAt * 1000)) })
}

function isNone(error: unknown): boolean {
  return error instanceof RequestFailed && error.code === 'not_available'
}

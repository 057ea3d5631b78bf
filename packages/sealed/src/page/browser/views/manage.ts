/** The sender's view of a secret: receipt, management link, burn. */
import type { ReceiptResponse } from '../../../api.ts'
import { RequestFailed } from '../../../client/errors.ts'
import { formatLink, type LinkTarget } from '../../../crypto/link.ts'
import { api, base, failureText } from '../api.ts'
import { button } from '../controls.ts'
import { copyField } from '../copy.ts'
import { element } from '../dom.ts'
import { draftNotice } from '../draft.ts'
import { burnButton } from '../fields/burn.ts'
import { formatNumber, formatTime } from '../format.ts'
import { setText, text, type TextKey } from '../language.ts'
import { showScreen } from '../layout.ts'
import { warnBeforeUnload } from '../navigation.ts'

const STATES = { pending: 'manage.pending', gone: 'manage.gone' } as const

export function showManage(target: LinkTarget & { kind: 'management' }) {
  const state = element('p', { class: 'receipt-state', role: 'status' })
  const reload = button('manage.again', () => void loadReceipt())

  async function loadReceipt() {
    reload.disabled = true
    state.dataset['state'] = 'asking'
    setText(state, 'manage.asking')
    try {
      const receipt = await api.receipt(target.id, target.burnToken)
      state.dataset['state'] = receipt.state
      setText(state, () => receiptText(receipt))
    } catch (error) {
      state.dataset['state'] = 'none'
      setText(state, isNotAvailable(error) ? 'manage.none' : failureText(error))
    }
    reload.disabled = false
  }

  warnBeforeUnload(() => false)
  const content = element(
    'div',
    { class: 'manage' },
    element(
      'section',
      { class: 'receipt' },
      setText(element('h2'), 'manage.receipt'),
      state,
      reload,
    ),
    element(
      'div',
      { class: 'manage-link' },
      copyField({ label: 'sealed.manage', value: formatLink(base, target) }),
    ),
    element('div', { class: 'foot foot-apart' }, burnButton(target)),
  )
  showScreen({
    name: 'manage',
    title: 'manage.title',
    intro: 'manage.lede',
    content,
    ...draftNotice(),
  })
  void loadReceipt()
}

function receiptText({ state, viewedAt = 0, views = 1, maxViews = 1 }: ReceiptResponse): string {
  if (state !== 'viewed') return text(STATES[state] satisfies TextKey)
  const time = formatTime(new Date(viewedAt * 1000))
  if (maxViews === 1) return text('manage.viewed', { time })
  return text('manage.viewedOf', { views: formatNumber(views), max: formatNumber(maxViews), time })
}

function isNotAvailable(error: unknown): boolean {
  return error instanceof RequestFailed && error.code === 'not_available'
}

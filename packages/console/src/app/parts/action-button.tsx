/** A button that runs something: disabled while it runs, or with the reason why it is not allowed. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { messageOf } from '../api/errors.ts'
import { showToast } from '../shell/toasts.tsx'

export function ActionButton(props: {
  run: () => Promise<void> | void
  /** Why it is not allowed now. The button stays visible and says so. */
  notAllowed?: string | undefined
  look?: 'primary' | 'danger' | 'quiet' | 'plain'
  small?: boolean
  label?: string
  children: ComponentChildren
}) {
  const { run, notAllowed, look = 'plain', small = false } = props
  const isBusy = useSignal(false)
  const click = async () => {
    if (notAllowed !== undefined) {
      showToast({ text: notAllowed, tone: 'warn' })
      return
    }
    if (isBusy.value) return
    isBusy.value = true
    try {
      await run()
    } catch (error) {
      showToast({ text: messageOf(error), tone: 'bad' })
    } finally {
      isBusy.value = false
    }
  }
  const looks = {
    primary: ' button-primary',
    danger: ' button-danger',
    quiet: ' button-quiet',
    plain: '',
  }
  return (
    <button
      class={`button${looks[look]}${small ? ' button-small' : ''}`}
      type="button"
      aria-label={props.label}
      aria-busy={isBusy.value}
      aria-disabled={notAllowed !== undefined || isBusy.value}
      title={notAllowed ?? props.label}
      onClick={() => void click()}
    >
      {props.children}
    </button>
  )
}

/** Dialogs: a native `<dialog>`, so that focus stays inside and returns afterwards. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { messageOf } from '../api/errors.ts'
import { Problem } from './field.tsx'

export function Dialog(props: {
  title: string
  onClose: () => void
  /** The buttons; the primary one is the last. */
  foot?: ComponentChildren
  /** Called on submit: with Enter in a field, with ⌘Enter anywhere, or by the primary button. */
  onSubmit?: () => void
  /** Cannot be closed with Escape, such as while something runs that must not be lost. */
  isModalOnly?: boolean
  wide?: boolean
  /** The content is a form of its own. */
  hasForm?: boolean
  children: ComponentChildren
}) {
  const { title, onClose, foot, onSubmit, isModalOnly = false, wide = false } = props
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    const opener = document.activeElement
    if (dialog && !dialog.open) dialog.showModal()
    return () => {
      dialog?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  const content = (
    <>
      <div class="dialog-head">
        <h2 id={titleId}>{title}</h2>
      </div>
      <div class="dialog-body">{props.children}</div>
      {foot !== undefined && <div class="dialog-foot">{foot}</div>}
    </>
  )
  return (
    <dialog
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      ref={ref}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        if (!isModalOnly) onClose()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) onSubmit?.()
      }}
    >
      {props.hasForm ? (
        <div>{content}</div>
      ) : (
        <form
          method="dialog"
          onSubmit={(event) => {
            event.preventDefault()
            onSubmit?.()
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  )
}

/** Asks before something is lost: names it, says what will happen, and the button repeats the verb. */
export function ConfirmDialog(props: {
  title: string
  /** "Delete source"; the other button says what stays: "Keep source". */
  confirm: string
  keep: string
  /** What will happen, as a list. */
  consequences?: readonly string[]
  /** For what cannot be undone: the name that has to be typed. */
  typeName?: string
  isDestructive?: boolean
  onConfirm: () => Promise<void>
  onClose: () => void
  children?: ComponentChildren
}) {
  const { consequences = [], typeName, isDestructive = true } = props
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const isReady = typeName === undefined || typed.value === typeName
  const inputId = useId()
  const confirm = async () => {
    if (!isReady || isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      await props.onConfirm()
      props.onClose()
    } catch (error) {
      problem.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      onSubmit={() => void confirm()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>{props.keep}</span>
          </button>
          <button
            class={`button ${isDestructive ? 'button-destroy' : 'button-primary'}`}
            type="submit"
            aria-disabled={!isReady || isBusy.value}
          >
            <span>{props.confirm}</span>
          </button>
        </>
      }
    >
      {props.children}
      {consequences.length > 0 && (
        <ul class="does">
          {consequences.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {typeName !== undefined && (
        <div class="field">
          <label class="label" for={inputId}>
            Type <b class="mono">{typeName}</b> to confirm
          </label>
          <input
            class="input mono"
            id={inputId}
            autocomplete="off"
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </div>
      )}
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
    </Dialog>
  )
}

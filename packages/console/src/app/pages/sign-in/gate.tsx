/** The frame of the pages before signing in: words at the left, a plate with a form at the right. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { Problem } from '../../parts/field.tsx'
import { Mark } from '../../parts/icon.tsx'

export function Gate(props: {
  title: string
  /** Of the tab of the browser. */
  name: string
  text: ComponentChildren
  foot?: ComponentChildren
  children: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${props.name} · Strongroom console`
  }, [props.name])
  return (
    <div class="gate">
      <header class="gate-head">
        <a class="brand" href="/">
          <Mark />
          <span>Strongroom</span>
        </a>
        <span class="faint small">{location.host}</span>
      </header>
      <main class="gate-main" id="main">
        <div class="gate-words">
          <h1>{props.title}</h1>
          <p>{props.text}</p>
        </div>
        <div class="gate-plate">
          {isSecureContext ? props.children : <Insecure />}
          {isSecureContext && props.foot !== undefined && <p class="gate-foot">{props.foot}</p>}
        </div>
      </main>
    </div>
  )
}

/** Browsers refuse the cookies of sessions on plain http, so a form would only fail. */
function Insecure() {
  const port = location.port === '' ? '80' : location.port
  const tunnel = `ssh -L ${port === '80' ? '8080' : port}:localhost:${port} ${location.hostname}`
  const local = `http://localhost:${port === '80' ? '8080' : port}/console/`
  return (
    <div class="form gate-form">
      <h2 class="gate-subtitle">This address is not encrypted</h2>
      <p class="soft">
        Passwords and tokens would be readable on the way to <b>{location.host}</b>, so there is no
        form here. There are two ways to sign in:
      </p>
      <ol class="gate-list">
        <li>
          <b>https.</b> Put a reverse proxy with a certificate in front of the server, and set{' '}
          <code>PUBLIC_URL</code> to its address.
        </li>
        <li>
          <b>An SSH tunnel.</b> Run this on your computer, then open <code>{local}</code>:
          <code class="gate-command">{tunnel}</code>
        </li>
      </ol>
    </div>
  )
}

/** A form with one primary button: disabled while it runs, with the problem above the button. */
export function GateForm(props: {
  submit: string
  onSubmit: () => Promise<void>
  /** Shows a problem elsewhere, such as at a field; true if it did. */
  onProblem?: (error: unknown) => boolean
  label: string
  children: ComponentChildren
  after?: ComponentChildren
}) {
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const run = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      await props.onSubmit()
    } catch (error) {
      if (!props.onProblem?.(error)) problem.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class="form gate-form"
      aria-label={props.label}
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      {props.children}
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
      <button
        class="button button-primary button-large"
        type="submit"
        aria-disabled={isBusy.value}
        aria-busy={isBusy.value}
      >
        <span>{props.submit}</span>
      </button>
      {props.after}
    </form>
  )
}

export interface SignInOptions {
  signup: 'open' | 'invite' | 'closed'
  providers: ('github' | 'google')[]
  mail: boolean
}

const PROVIDERS = { github: 'GitHub', google: 'Google' } as const

/** Buttons for the providers that are configured. */
export function Providers(props: {
  options: SignInOptions | undefined
  invite?: string | undefined
  /** A page below `/console`. */
  next: string
}) {
  const providers = props.options?.providers ?? []
  const problem = useSignal<string | undefined>(undefined)
  if (providers.length === 0) return null
  const start = async (provider: 'github' | 'google') => {
    problem.value = undefined
    try {
      const json = {
        ...(props.invite !== undefined && { invite: props.invite }),
        next: `/console${props.next}`,
      }
      const path = `/ferryhook/v1/auth/${provider}`
      const { url } = await request<{ url: string }>('POST', path, { as: 'nobody', json })
      location.assign(url)
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  return (
    <>
      <p class="or">
        <span>or continue with</span>
      </p>
      <div class="gate-two">
        {providers.map((provider) => (
          <button
            class="button button-large"
            type="button"
            key={provider}
            aria-label={`Continue with ${PROVIDERS[provider]}`}
            onClick={() => void start(provider)}
          >
            <span>{PROVIDERS[provider]}</span>
          </button>
        ))}
      </div>
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
    </>
  )
}

/** What the server offers; undefined until it is known, and where Ferryhook does not run. */
export async function loadOptions(abort: AbortSignal): Promise<SignInOptions> {
  return request('GET', '/ferryhook/v1/auth/options', { as: 'nobody', signal: abort })
}

/** Signing in, for users and operators: a first step, and a second one for those who have a second factor. */
import type { z } from 'zod'
import type { SessionView } from '@strongroom/ferryhook/accounts/sessions/view'
import type { methods } from '@strongroom/ferryhook/accounts/second-factor/view'
import { hasCode } from './errors.ts'
import { loadOperatorSession } from './operator-session.ts'
import { request } from './request.ts'
import { adoptSession } from './user-session.ts'

export type SecondFactorMethod = (typeof methods)[number]

type Session = z.infer<typeof SessionView>

/** Undefined if the person is signed in; otherwise how the second step can be taken. */
export type FirstStep = readonly SecondFactorMethod[] | undefined

export type Proof =
  | { method: 'totp' | 'recovery_code'; code: string }
  | { method: 'passkey'; response: unknown }

const nobody = { as: 'nobody' } as const

export async function signInUser(email: string, password: string): Promise<FirstStep> {
  try {
    const json = { email, password }
    adoptSession(await request<Session>('POST', '/ferryhook/v1/auth/login', { ...nobody, json }))
    return undefined
  } catch (error) {
    if (!hasCode(error, 'ferryhook.second_factor_required')) throw error
    return error.data['methods'] as SecondFactorMethod[]
  }
}

type OperatorStep =
  | { status: 'signed_in' }
  | { status: 'second_factor_required'; methods: SecondFactorMethod[] }

export async function signInOperator(token: string): Promise<FirstStep> {
  const step = await request<OperatorStep>('POST', '/server/v1/session', {
    ...nobody,
    json: { token },
  })
  if (step.status === 'second_factor_required') return step.methods
  await loadOperatorSession()
  return undefined
}

/** The second step of a sign-in through a provider, which began in another page. */
export async function pendingSignIn(): Promise<readonly SecondFactorMethod[]> {
  const pending = await request<{ methods: SecondFactorMethod[] }>(
    'GET',
    '/ferryhook/v1/auth/second-factor',
    nobody,
  )
  return pending.methods
}

export async function finishSignIn(side: 'user' | 'operator', proof: Proof): Promise<void> {
  if (side === 'user') {
    const path = '/ferryhook/v1/auth/second-factor'
    adoptSession(await request<Session>('POST', path, { ...nobody, json: proof }))
    return
  }
  await request('POST', '/server/v1/session/sign-in', { ...nobody, json: proof })
  await loadOperatorSession()
}

/** Asks the browser for a passkey of the account. */
export async function passkeyProof(side: 'user' | 'operator'): Promise<Proof> {
  const path =
    side === 'user'
      ? '/ferryhook/v1/auth/second-factor/passkey'
      : '/server/v1/session/sign-in/passkey-options'
  return { method: 'passkey', response: await askPasskey(() => request('POST', path, nobody)) }
}

/** The browser's response to options that the server made. */
export async function askPasskey(options: () => Promise<unknown>): Promise<unknown> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  return startAuthentication({ optionsJSON: (await options()) as never })
}

/** Why a passkey could not be used, in words for people. */
export function passkeyProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'NotAllowedError' || error.name === 'AbortError')
    return 'No passkey was used. Try again, or use another way.'
  if (error.name === 'InvalidStateError') return 'This device already has a passkey of this account'
  if (error.name === 'SecurityError')
    return 'The browser refuses passkeys at this address. Open the console at its public address.'
  return undefined
}

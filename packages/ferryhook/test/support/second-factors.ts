/** The second factors of a test user: an authenticator app and its codes. */
import { appCode } from '@strongroom/kit/testing/authenticator-app'
import { expect } from 'vitest'
import { type Answer, type OpenApi, ORIGIN, PASSWORD, type Person } from './test-api.ts'

export interface Enrolled extends Person {
  secret: string
  recoveryCodes: string[]
  /** A code that was not used yet: each call moves the clock to the next one. */
  code(): string
}

export const confirmation = { currentPassword: PASSWORD }

/** A user with an authenticator app. */
export async function enrol(api: OpenApi, person: Person): Promise<Enrolled> {
  const { token } = person
  const path = '/account/second-factor/totp'
  const start = await api.ask('POST', path, { token, body: confirmation })
  expect(start.status, start.text).toBe(200)
  const { secret } = start.body
  const body = { code: appCode(secret, api.clock.now()) }
  const confirmed = await api.ask('POST', `${path}/confirm`, { token, body })
  expect(confirmed.status, confirmed.text).toBe(200)
  const { recoveryCodes } = confirmed.body
  const code = () => {
    api.clock.advance({ seconds: 30 })
    return appCode(secret, api.clock.now())
  }
  return { ...person, secret, recoveryCodes, code }
}

export const firstStep = (api: OpenApi, { email }: Person): Promise<Answer> =>
  api.ask('POST', '/auth/login', { body: { email, password: PASSWORD } })

export const secondStep = (
  api: OpenApi,
  { cookies }: Pick<Answer, 'cookies'>,
  body: object,
): Promise<Answer> =>
  api.ask('POST', '/auth/second-factor', { cookies, body, headers: { origin: ORIGIN } })

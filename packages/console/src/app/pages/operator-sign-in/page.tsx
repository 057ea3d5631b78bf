/** "Your sign-in": the second factor and the sessions of the signed-in operator. */
import { useSignal } from '@preact/signals'
import { ApiFailure, hasCode } from '../../api/errors.ts'
import { loadOperatorSession, operator } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import {
  methodsOf,
  type SecondFactorApi,
  type SecondFactors,
} from '../../parts/second-factor/api.ts'
import { SecondFactorPanel } from '../../parts/second-factor/panel.tsx'
import { VerifyDialog } from '../../parts/second-factor/verify-dialog.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { ToneIcon } from '../../parts/status.tsx'
import { Bar } from '../../shell/bar.tsx'
import { listSessions, SessionsPanel } from '../operators/sessions.tsx'

const PATH = '/server/v1/session/second-factor'
const asOperator = { as: 'operator' } as const

export default function OperatorSignInPage() {
  const name = operator.value?.name
  const factors = useResource((signal) =>
    request<SecondFactors>('GET', PATH, { ...asOperator, signal }),
  )
  const sessions = useResource((signal) => listSessions(name, signal))
  const verification = useSignal<PromiseWithResolvers<void> | undefined>(undefined)

  /** Verifies first if the last proof is too old, and then does what was asked for. */
  const verified = async <T,>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      if (!hasCode(error, 'operator.verification_required')) throw error
      const asked = Promise.withResolvers<void>()
      verification.value = asked
      await asked.promise.finally(() => (verification.value = undefined))
      return await run()
    }
  }
  const api = operatorFactors(verified)
  const changed = () => {
    factors.reload()
    sessions.reload()
    void loadOperatorSession()
  }
  return (
    <>
      <Bar title="Your sign-in" note={name} />
      <main id="main">
        <div class="page page-narrow">
          {operator.value?.isLimited && <Limited />}
          <Loaded resource={factors} what="your second factor">
            {(data) => (
              <>
                <SecondFactorPanel
                  factors={data}
                  api={api}
                  account={name ?? ''}
                  onChanged={changed}
                />
                {verification.value && (
                  <VerifyDialog
                    methods={data.isEnrolled ? methodsOf(data) : []}
                    secretLabel="Token"
                    passkeyOptions={() =>
                      request('POST', '/server/v1/session/verification/passkey-options', asOperator)
                    }
                    verify={async (proof) => {
                      const json =
                        proof.method === 'secret' ? { method: 'token', token: proof.secret } : proof
                      await verify(json)
                      verification.value?.resolve()
                    }}
                    onClose={() => verification.value?.reject(new Cancelled())}
                  />
                )}
              </>
            )}
          </Loaded>
          <SessionsPanel
            sessions={sessions}
            command={`strongroom operator sessions ${name ?? ''}`}
          />
          <p class="soft small">
            A second factor protects the console. Your token works without one, for programs and
            commands: keep it like a password.
          </p>
        </div>
      </main>
    </>
  )
}

/** A wrong token or code is no ended session, which a 401 would otherwise mean. */
async function verify(json: object): Promise<void> {
  await request('POST', '/server/v1/session/verification', { as: 'nobody', json })
}

class Cancelled extends ApiFailure {
  constructor() {
    super({ status: 0, code: 'cancelled', message: 'Nothing was changed.' })
  }
}

function Limited() {
  return (
    <div class="notice is-warn" role="status">
      <ToneIcon shape="triangle" tone="warn" />
      <div class="notice-text">
        <strong>Add a second factor to continue</strong>
        <p>
          This server requires one from admins. Until you have added an authenticator app or a
          passkey, your session can do nothing else.
        </p>
      </div>
    </div>
  )
}

function operatorFactors(verified: <T>(run: () => Promise<T>) => Promise<T>): SecondFactorApi {
  const call = <T,>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, json?: object) =>
    verified(() => request<T>(method, PATH + path, { ...asOperator, json }))
  const passkey = (id: string) => `/passkeys/${encodeURIComponent(id)}`
  return {
    startTotp: () => call('POST', '/totp'),
    confirmTotp: (code) => call('PUT', '/totp', { code }),
    removeTotp: () => call('DELETE', '/totp'),
    passkeyOptions: () => call('POST', '/passkeys/options'),
    addPasskey: (name, response) => call('POST', '/passkeys', { name, response }),
    renamePasskey: (id, name) => call('PATCH', passkey(id), { name }),
    removePasskey: (id) => call('DELETE', passkey(id)),
    replaceRecoveryCodes: () => call('POST', '/recovery-codes'),
  }
}

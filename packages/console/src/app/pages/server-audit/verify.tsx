/** Verifies the hash chain of the log and says what was found. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { Command, CopyId } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/field.tsx'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Status } from '../../parts/status.tsx'
import { type Verification, verifyAudit } from './api.ts'

const MAX_SHOWN = 20

type State =
  | { kind: 'running'; entries: number }
  | { kind: 'done'; result: Verification }
  | { kind: 'failed'; message: string }

export function Verify() {
  const state = useSignal<State | undefined>(undefined)
  const verify = async () => {
    state.value = { kind: 'running', entries: 0 }
    try {
      const result = await verifyAudit((entries) => {
        if (state.value?.kind === 'running') state.value = { kind: 'running', entries }
      })
      if (state.value) state.value = { kind: 'done', result }
    } catch (error) {
      if (state.value) state.value = { kind: 'failed', message: messageOf(error) }
    }
  }
  return (
    <>
      <button class="button" type="button" aria-label="Verify" onClick={() => void verify()}>
        <Icon name="shield" />
        <span class="hide-small">Verify</span>
      </button>
      {state.value && (
        <Dialog
          title="Verify the audit log"
          onClose={() => (state.value = undefined)}
          foot={
            <button class="button" type="button" onClick={() => (state.value = undefined)}>
              <span>Close</span>
            </button>
          }
        >
          <Result state={state.value} />
        </Dialog>
      )}
    </>
  )
}

function Result({ state }: { state: State }) {
  if (state.kind === 'running') {
    return (
      <p role="status">
        {state.entries === 0
          ? 'Verifying…'
          : `${formatCount(state.entries, 'entry', 'entries')} verified…`}
      </p>
    )
  }
  if (state.kind === 'failed') return <Problem>{state.message}</Problem>
  const { entries, findings, lastHashes } = state.result
  const isIntact = findings.length === 0
  return (
    <div class="form" role="status">
      <p>
        <Status status={isIntact ? 'verified' : 'failed'} look="badge">
          {isIntact ? 'Intact' : 'Not intact'}
        </Status>{' '}
        {formatCount(entries, 'entry', 'entries')} verified.{' '}
        {isIntact
          ? 'No entry was changed or removed.'
          : 'Entries were changed or removed by somebody who can write to the store.'}
      </p>
      {!isIntact && (
        <ul class="does">
          {findings.slice(0, MAX_SHOWN).map(({ month, seq, message }) => (
            <li key={`${month}/${seq}`}>
              <span class="num">
                {month}/{seq}
              </span>
              : {message}
            </li>
          ))}
          {findings.length > MAX_SHOWN && <li>and {findings.length - MAX_SHOWN} more</li>}
        </ul>
      )}
      {lastHashes.length > 0 && (
        <>
          <p class="soft small">
            Store the last hash of each month elsewhere and compare it later: it shows whether a
            whole month was written anew. This server verified its own log; the command verifies it
            without trusting the server.
          </p>
          <dl class="facts">
            {lastHashes.map(({ month, hash }) => (
              <div class="contents" key={month}>
                <dt>{month}</dt>
                <dd>
                  <CopyId id={hash} what={`hash of ${month}`} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <Command text="strongroom audit verify --local" />
    </div>
  )
}

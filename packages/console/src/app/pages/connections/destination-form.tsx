/** Name and address of a connection, and a test delivery to the saved address. */
import { useSignal } from '@preact/signals'
import { type Connection, V1 } from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Field, TextField } from '../../parts/field.tsx'
import { formatDuration } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import type { Draft } from './draft.ts'

interface TestResult {
  ok: boolean
  reason: string
  statusCode: number
  latencyMs: number
  error?: string
}

export function DestinationForm(props: {
  saved: Connection
  draft: Draft
  onChange: (changes: Partial<Draft>) => void
  problem: string | undefined
  nameProblem: string | undefined
}) {
  const { saved, draft, onChange, problem, nameProblem } = props
  const tested = useSignal<{ result: TestResult; at: number } | undefined>(undefined)
  const isOther = draft.destinationUrl.trim() !== saved.destinationUrl
  const test = async () => {
    const path = `${V1}/connections/${saved.id}/test`
    tested.value = { result: await request<TestResult>('POST', path), at: Date.now() }
  }
  return (
    <div class="form">
      <TextField
        label="Name"
        maxLength={100}
        value={draft.name}
        onInput={(name) => onChange({ name })}
        problem={nameProblem}
      />
      <Field
        label="URL"
        problem={problem}
        hint={
          tested.value ? (
            <TestNote tested={tested.value} />
          ) : isOther ? (
            'Save before you test the new address.'
          ) : (
            'https, or test:200 for the built-in test destination. Redirects are not followed.'
          )
        }
      >
        {(ids) => (
          <div class="with-button">
            <input
              {...ids}
              class="input mono"
              spellcheck={false}
              maxLength={2048}
              value={draft.destinationUrl}
              onInput={(event) => onChange({ destinationUrl: event.currentTarget.value })}
            />
            <ActionButton
              run={test}
              notAllowed={isOther ? 'Save the new address first, then test it' : undefined}
            >
              <Icon name="send" />
              <span>Test delivery</span>
            </ActionButton>
          </div>
        )}
      </Field>
    </div>
  )
}

function TestNote({ tested: { result, at } }: { tested: { result: TestResult; at: number } }) {
  const answer =
    result.statusCode > 0 ? `Response ${result.statusCode}` : (result.error ?? result.reason)
  return (
    <span role="status">
      <Status status={result.ok ? 'delivered' : 'failed'}>
        {answer} in {formatDuration(result.latencyMs)}
      </Status>{' '}
      <span class="faint">
        <RelativeTime time={at} suffix=" ago" />
      </span>
    </span>
  )
}

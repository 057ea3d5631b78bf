/** One attempt: the response, its headers, and the request as sent. */
import { useSignal } from '@preact/signals'
import type { SentBodyView } from '@strongroom/ferryhook/deliveries/view'
import type { z } from 'zod'
import { request } from '../../api/request.ts'
import { prettyJson, rawLines } from '../../parts/code-text.ts'
import { CodeView } from '../../parts/code-view.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import type { Attempt } from './event.ts'
import { HeaderTable } from './header-table.tsx'

type SentBody = z.infer<typeof SentBodyView>

const TABS = { response: 'Response', headers: 'Response headers', sent: 'Sent' } as const
type Tab = keyof typeof TABS

export function AttemptView({ attempt, eventId }: { attempt: Attempt; eventId: string }) {
  const tab = useSignal<Tab>('response')
  const text = attempt.responseBody ?? attempt.error ?? ''
  return (
    <div class="viewer attempt-viewer">
      <div class="viewer-head">
        <div class="seg seg-small" role="group" aria-label={`Attempt ${attempt.number}`}>
          {(Object.keys(TABS) as Tab[]).map((each) => (
            <button
              type="button"
              aria-pressed={tab.value === each}
              key={each}
              onClick={() => (tab.value = each)}
            >
              {TABS[each]}
            </button>
          ))}
        </div>
        <span class="push" />
        <span class="cut faint">{attempt.responseHeaders?.['content-type'] ?? ''}</span>
        <CopyButton text={text} label="Copy response" />
      </div>
      {tab.value === 'response' &&
        (text === '' ? (
          <p class="list-note">The response has no body</p>
        ) : (
          <CodeView lines={rawLines(text)} label="Response" hasNumbers={false} />
        ))}
      {tab.value === 'headers' && (
        <HeaderTable headers={Object.entries(attempt.responseHeaders ?? {})} />
      )}
      {tab.value === 'sent' && <Sent attempt={attempt} eventId={eventId} />}
    </div>
  )
}

const REASONS = {
  not_recorded: 'Nothing was sent, or by a version that did not record it.',
  transform_changed:
    'The transform of the connection has changed since, so the body can no longer be derived.',
} as const

function Sent({ attempt, eventId }: { attempt: Attempt; eventId: string }) {
  const { connectionId, number, run } = attempt
  const path = `/ferryhook/v1/events/${eventId}/deliveries/${connectionId}/attempts/${number}/body`
  const body = useResource((signal) => request<SentBody>('GET', path, { query: { run }, signal }))
  return (
    <>
      <HeaderTable headers={Object.entries(attempt.requestHeaders ?? {})} />
      <Loaded resource={body} what="the body">
        {(sent) => {
          if (sent.body === null)
            return <p class="list-note">{REASONS[sent.reason ?? 'not_recorded']}</p>
          const pretty = sent.encoding === 'utf-8' ? prettyJson(sent.body) : undefined
          return (
            <>
              <p class="sent-note small faint">
                {sent.origin === 'received'
                  ? 'The body as it was received'
                  : 'After the transform; derived again, the same bytes as were sent'}
              </p>
              <CodeView
                lines={pretty ?? rawLines(sent.body)}
                label="Sent body"
                isJson={pretty !== undefined}
              />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

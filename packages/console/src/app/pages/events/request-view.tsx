/** The request as it was received: body, headers and query. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { send } from '../../api/request.ts'
import { findLines, hexLines, listLines, prettyJson, rawLines } from '../../parts/code-text.ts'
import { CodeView } from '../../parts/code-view.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { formatBytes } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Status } from '../../parts/status.tsx'
import { param, setQuery } from '../../router.ts'
import type { EventDetail } from './event.ts'
import { HeaderTable } from './header-table.tsx'

export const REQUEST_TABS = ['body', 'headers', 'query'] as const
type Format = 'pretty' | 'raw' | 'hex'

export function RequestView({ event }: { event: EventDetail }) {
  const tab = REQUEST_TABS.find((each) => each === param('tab')) ?? 'body'
  const headers = Object.entries(event.headers)
  const query = [...new URLSearchParams(event.query ?? '')]
  const counts = { body: undefined, headers: headers.length, query: query.length }
  const labels = { body: 'Body', headers: 'Headers', query: 'Query' }
  return (
    <section class="detail-part" aria-label="Request">
      <div class="part-head">
        <h3>Request</h3>
        <span class="method">{event.method}</span>
        <span class="small faint cut">
          {formatBytes(event.bodyBytes)}, {event.contentType ?? 'no content type'}
        </span>
        <span class="push" />
        {event.unverified && (
          <span class="small">
            <Status status="signature_failed" />
          </span>
        )}
      </div>
      <div class="viewer">
        <div class="viewer-head viewer-tabs">
          <div class="tabs" role="tablist" aria-label="Request">
            {REQUEST_TABS.map((each) => (
              <button
                class="tab"
                type="button"
                role="tab"
                aria-selected={tab === each}
                key={each}
                onClick={() => setQuery({ tab: each === 'body' ? undefined : each })}
              >
                {labels[each]}{' '}
                {counts[each] !== undefined && <span class="count">{counts[each]}</span>}
              </button>
            ))}
          </div>
          <span class="push" />
        </div>
        {tab === 'body' && <Body event={event} />}
        {tab === 'headers' && <HeaderTable headers={headers} />}
        {tab === 'query' && <HeaderTable headers={query} />}
      </div>
    </section>
  )
}

function bytesOf({ body, encoding }: Pick<EventDetail, 'body' | 'encoding'>): Uint8Array {
  if (encoding === 'utf-8') return new TextEncoder().encode(body)
  return Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
}

function Body({ event }: { event: EventDetail }) {
  const isText = event.encoding === 'utf-8'
  const format = useSignal<Format>(isText ? 'pretty' : 'hex')
  const wanted = useSignal('')
  const isSearching = useSignal(false)
  const position = useSignal(0)
  const pretty = useMemo(() => (isText ? prettyJson(event.body) : undefined), [event.body])
  const chosen: Format = isText ? format.value : 'hex'
  const lines = useMemo(() => {
    if (event.bodyBytes === 0) return listLines([''])
    if (chosen === 'hex') return hexLines(bytesOf(event))
    return (chosen === 'pretty' ? pretty : undefined) ?? rawLines(event.body)
  }, [event.body, chosen])
  const found = useMemo(() => findLines(lines, wanted.value), [lines, wanted.value])
  const current = found[position.value % Math.max(1, found.length)]
  const looksLikeJson = /json/i.test(event.contentType ?? '')
  return (
    <>
      <div class="body-tools">
        <div class="seg seg-small" role="group" aria-label="Format">
          {(['pretty', 'raw', 'hex'] as const).map((each) => (
            <button
              type="button"
              aria-pressed={chosen === each}
              disabled={!isText && each !== 'hex'}
              key={each}
              onClick={() => (format.value = each)}
            >
              {{ pretty: 'Pretty', raw: 'Raw', hex: 'Hex' }[each]}
            </button>
          ))}
        </div>
        {isText && looksLikeJson && !pretty && event.bodyBytes > 0 && (
          <span class="small st-text is-warn">Not valid JSON</span>
        )}
        <span class="push" />
        {isSearching.value && (
          <>
            <input
              class="input input-small"
              type="text"
              aria-label="Find in body"
              value={wanted.value}
              ref={(element) => {
                if (element && wanted.peek() === '') element.focus()
              }}
              onInput={(input) => {
                wanted.value = input.currentTarget.value
                position.value = 0
              }}
              onKeyDown={(key) => {
                if (key.key === 'Enter') position.value += key.shiftKey ? found.length - 1 : 1
                if (key.key !== 'Escape') return
                key.preventDefault()
                isSearching.value = false
                wanted.value = ''
              }}
            />
            <span class="small faint num" role="status">
              {wanted.value === ''
                ? ''
                : found.length === 0
                  ? 'None'
                  : `${(position.value % found.length) + 1} of ${found.length}`}
            </span>
          </>
        )}
        <button
          class="button button-icon button-quiet button-small"
          type="button"
          aria-label="Find in body"
          title="Find in body"
          aria-expanded={isSearching.value}
          onClick={() => {
            isSearching.value = !isSearching.value
            wanted.value = ''
          }}
        >
          <Icon name="search" />
        </button>
        <CopyButton text={event.body} label="Copy body" />
        <button
          class="button button-icon button-quiet button-small"
          type="button"
          aria-label="Download body"
          title="Download body"
          onClick={() => void download(event.id)}
        >
          <Icon name="download" />
        </button>
      </div>
      {event.bodyBytes === 0 ? (
        <p class="list-note">The body is empty</p>
      ) : (
        <CodeView
          lines={lines}
          label="Body"
          isJson={chosen === 'pretty' && pretty !== undefined}
          hasNumbers={chosen !== 'hex'}
          found={found}
          current={current}
        />
      )}
    </>
  )
}

/** The bytes as received, as a file: the browser never shows them as a page. */
async function download(id: string): Promise<void> {
  const response = await send('GET', `/ferryhook/v1/events/${id}/body`)
  const url = URL.createObjectURL(
    new Blob([await response.arrayBuffer()], { type: 'application/octet-stream' }),
  )
  const link = document.createElement('a')
  link.href = url
  link.download = id
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** The audit log of operators: who changed what on the server, and whether the log is intact. */
import { useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { messageOf } from '../../api/errors.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Problem } from '../../parts/field.tsx'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { type AuditFilter, type AuditPage, exportAudit, listAudit } from './api.ts'
import { AuditTable } from './audit-table.tsx'
import { downloadEntries } from './download.ts'
import { chosenLast, Filters, LASTS } from './filters.tsx'
import { Verify } from './verify.tsx'

function filterOf(): AuditFilter {
  const { ms } = chosenLast()
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  return {
    actor: param('who'),
    action: param('action'),
    target: param('target'),
    from: new Date(minute - ms).toISOString(),
  }
}

interface Listing extends AuditPage {
  filter: AuditFilter
}

export default function ServerAuditPage() {
  const listing = useResource(async (signal): Promise<Listing> => {
    const filter = filterOf()
    return { filter, ...(await listAudit(filter, undefined, signal)) }
  })
  const isLoadingOlder = useSignal(false)
  const olderError = useSignal<unknown>(undefined)
  const field = useRef<HTMLInputElement>(null)
  useKeys([{ keys: '/', label: 'Filter', run: () => field.current?.focus() }])
  useSignalEffect(() => {
    void listing.data.value
    olderError.value = undefined
  })

  const loadOlder = async () => {
    const current = listing.data.value
    if (!current?.cursor || isLoadingOlder.value) return
    isLoadingOlder.value = true
    olderError.value = undefined
    try {
      const page = await listAudit(current.filter, current.cursor)
      // Another filter may have been chosen meanwhile.
      if (listing.data.value === current)
        listing.set({ ...current, items: [...current.items, ...page.items], cursor: page.cursor })
    } catch (error) {
      olderError.value = error
    } finally {
      isLoadingOlder.value = false
    }
  }

  const data = listing.data.value
  const count = data && formatCount(data.items.length, 'entry', 'entries')
  const more = data?.cursor ? ' and more' : ''
  return (
    <>
      <Bar
        title="Audit log"
        note={count && `${count}${more} in the last ${chosenLast().name}`}
        actions={
          <>
            <Verify />
            <ActionButton
              run={async () => downloadEntries(await exportAudit(filterOf()))}
              label="Download as JSON"
            >
              <Icon name="download" />
              <span class="hide-small">Download</span>
            </ActionButton>
          </>
        }
      />
      <main id="main">
        <Filters fieldRef={field} />
        <Loaded resource={listing} what="the audit log">
          {({ items, cursor }) =>
            items.length === 0 && cursor === null ? (
              <NoEntries />
            ) : (
              <div class="page page-flush">
                <AuditTable entries={items} />
                <div class="list-note">
                  <span>{formatCount(items.length, 'entry', 'entries')}.</span>{' '}
                  {cursor !== null && (
                    <button
                      class="link-button"
                      type="button"
                      aria-disabled={isLoadingOlder.value}
                      onClick={() => void loadOlder()}
                    >
                      {isLoadingOlder.value ? 'Loading…' : 'Load older'}
                    </button>
                  )}
                  {olderError.value !== undefined && (
                    <Problem>{messageOf(olderError.value)}</Problem>
                  )}
                </div>
              </div>
            )
          }
        </Loaded>
      </main>
    </>
  )
}

/** Names the filter and offers the nearest one that may have a match. */
function NoEntries() {
  const last = chosenLast()
  const next = LASTS[LASTS.indexOf(last) + 1]
  const hasFilter = ['who', 'action', 'target'].some((name) => param(name) !== undefined)
  return (
    <Empty
      glyph="none"
      title={hasFilter ? 'No entries match the filter' : `No entries in the last ${last.name}`}
      command="strongroom audit list"
      actions={
        <>
          {hasFilter && (
            <button
              class="button button-primary"
              type="button"
              onClick={() => setQuery({ who: undefined, action: undefined, target: undefined })}
            >
              <span>Remove the filter</span>
            </button>
          )}
          {next && (
            <button class="button" type="button" onClick={() => setQuery({ last: next.value })}>
              <span>Show the last {next.name}</span>
            </button>
          )}
        </>
      }
    >
      Every change by an operator or a command is recorded here and kept for one year.
    </Empty>
  )
}

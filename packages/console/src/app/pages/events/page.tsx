/** Events: the list with its filter on the left, the open event on the right. */
import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { request } from '../../api/request.ts'
import { formatCount, formatNumber, isExact } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loading } from '../../parts/states.tsx'
import { messageOf } from '../../api/errors.ts'
import { type ListControl, VirtualList } from '../../parts/virtual-list.tsx'
import type { PageProps } from '../../pages.ts'
import { navigate, param, query, setQuery, withQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { showToast } from '../../shell/toasts.tsx'
import { actOnEvents, type BulkAction, BulkBar } from './bulk.tsx'
import { CountBar, totalOf, useCounts } from './counts.tsx'
import { Detail } from './detail.tsx'
import type { EventDetail, ListedEvent } from './event.ts'
import { createEventList } from './event-list.ts'
import { FilterBar, type Named } from './filter-bar.tsx'
import { parseFilter, PERIODS } from './filter.ts'
import { useLive } from './live.ts'
import { ReplayMatching } from './replay-matching.tsx'
import { EventRow } from './row.tsx'

export default function Page({ params }: PageProps) {
  const { id } = params
  return id === undefined ? <EventsPage /> : <EventPage id={id} />
}

function EventPage({ id }: { id: string }) {
  return (
    <>
      <Bar title="Event" parent={{ label: 'Events', href: '/console/events' }} />
      <main id="main" class="fill">
        <section class="pane pane-alone" aria-label="Event">
          <Detail id={id} key={id} />
        </section>
      </main>
    </>
  )
}

/** Parameters that do not change what is listed. */
const VIEW_PARAMETERS = ['event', 'tab', 'attempt', 'live']

function EventsPage() {
  const list = useMemo(createEventList, [])
  const control = useRef<ListControl>(null)
  const field = useRef<HTMLInputElement>(null)
  const pane = useRef<HTMLElement>(null)
  const current = useSignal<string | undefined>(undefined)
  const picked = useSignal<ReadonlySet<string>>(new Set())
  const open = param('event')
  const isLive = param('live') === '1'
  const counts = useCounts()
  const sources = useResource((signal) =>
    request<{ items: Named[] }>('GET', '/ferryhook/v1/sources', { signal }),
  )
  const listed = useRef<string | undefined>(undefined)
  useSignalEffect(() => {
    const filter = new URLSearchParams(query.value)
    for (const name of VIEW_PARAMETERS) filter.delete(name)
    if (listed.current === filter.toString()) return
    listed.current = filter.toString()
    picked.value = new Set()
    list.load(parseFilter(filter))
  })
  /** New rows appear by themselves only where they move nothing that somebody reads. */
  const mayShow = () =>
    param('event') === undefined &&
    picked.peek().size === 0 &&
    (control.current?.isAtTop() ?? false) &&
    !(pane.current?.matches(':hover, :focus-within') ?? false)
  const live = useLive(isLive, (batch) => list.take(batch, mayShow()))

  const rows = list.rows.value
  const index = rows.findIndex(({ id }) => id === (open ?? current.value))
  const openEvent = (id: string, replace = false) => {
    current.value = id
    setQuery({ event: id, attempt: undefined }, { replace })
  }
  const close = () => {
    setQuery({ event: undefined, attempt: undefined, tab: undefined })
    document.getElementById(`row-${open}`)?.focus()
  }
  const toggle = (id: string) => {
    const next = new Set(picked.value)
    if (!next.delete(id)) next.add(id)
    picked.value = next
  }
  const move = (by: 1 | -1, extend = false) => {
    const next = rows[index === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, index + by))]
    if (!next) return
    if (extend) {
      const from = rows[index]
      picked.value = new Set([...picked.value, ...(from ? [from.id] : []), next.id])
    }
    current.value = next.id
    control.current?.reveal(rows.indexOf(next))
    if (open !== undefined) openEvent(next.id, true)
    else requestAnimationFrame(() => document.getElementById(`row-${next.id}`)?.focus())
  }
  const bulk = async (action: BulkAction) => {
    try {
      await actOnEvents(action, [...picked.value])
    } catch (error) {
      showToast({ text: messageOf(error), tone: 'bad' })
    }
  }
  const toggleLive = () => setQuery({ live: isLive ? undefined : '1' }, { replace: true })
  const isBulk = picked.value.size > 0
  useKeys(
    [
      { keys: 'j', label: 'Next event', run: () => move(1) },
      { keys: 'k', label: 'Previous event', run: () => move(-1) },
      { keys: 'ArrowDown', label: 'Next event', run: () => move(1) },
      { keys: 'ArrowUp', label: 'Previous event', run: () => move(-1) },
      { keys: 'Shift+J', label: 'Select and go on', run: () => move(1, true) },
      { keys: 'Shift+K', label: 'Select and go back', run: () => move(-1, true) },
      ...['Enter', 'o'].map((keys) => ({
        keys,
        label: 'Open',
        run: () => {
          const focused = document.activeElement
          // Enter on a button or another link does what that does.
          const own = focused instanceof HTMLElement && !focused.matches('body, .row-name')
          if (keys === 'Enter' && own && focused.matches('a, button, input')) focused.click()
          else if (rows[index]) openEvent(rows[index].id)
        },
      })),
      { keys: 'x', label: 'Select', run: () => rows[index] && toggle(rows[index].id) },
      {
        keys: 'Mod+a',
        label: 'Select all that are loaded',
        run: () => (picked.value = new Set(rows.map(({ id }) => id))),
      },
      { keys: 'l', label: 'Live on or off', run: toggleLive },
      { keys: '.', label: 'Exact or relative times', run: () => (isExact.value = !isExact.value) },
      { keys: '/', label: 'Filter', run: () => field.current?.focus() },
      {
        keys: 'Escape',
        label: 'Leave the field, close, clear the selection',
        run: () => {
          if (document.activeElement === field.current) field.current?.blur()
          else if (open !== undefined) close()
          else picked.value = new Set()
        },
      },
      ...(isBulk
        ? [
            { keys: 't', label: 'Retry the selected now', run: () => void bulk('retry') },
            { keys: 'h', label: 'Hold the selected', run: () => void bulk('hold') },
            { keys: 'r', label: 'Replay the selected', run: () => clickReplay() },
          ]
        : []),
    ],
    [rows, index, open, isLive, isBulk, picked.value],
  )
  useEffect(() => {
    document.body.classList.toggle('has-detail', open !== undefined)
    return () => document.body.classList.remove('has-detail')
  }, [open])

  const filter = parseFilter(query.value)
  const data = counts.data.value
  const period = filter.from === undefined ? PERIODS[filter.last].label.toLowerCase() : undefined
  const total = data && totalOf(data.chosen)
  return (
    <>
      <Bar
        title="Events"
        note={
          total === undefined
            ? undefined
            : `${formatCount(total, 'event')}${data?.chosen.isComplete ? '' : ' or more'}${period ? ` in the ${period}` : ''}`
        }
        actions={
          <>
            <button class="button" type="button" aria-pressed={isLive} onClick={toggleLive}>
              <Icon name={isLive ? 'pause' : 'play'} />
              <span>{isLive ? 'Pause live' : 'Go live'}</span>
              <kbd>L</kbd>
            </button>
            <ReplayMatching />
          </>
        }
      />
      <main id="main" class="fill">
        <FilterBar sources={sources.data.value?.items ?? []} field={field} />
        <CountBar counts={data} />
        <div class={open === undefined ? 'split is-closed' : 'split is-detail'}>
          <section class="pane pane-list" aria-label="Events" ref={pane}>
            {isLive && <LiveLine list={list} live={live} onShow={() => control.current?.toTop()} />}
            <VirtualList
              items={rows}
              label="Events"
              control={control}
              onNearEnd={list.loadMore}
              head={<ListHead rows={rows} picked={picked} />}
              row={(event) => (
                <EventRow
                  event={event}
                  href={hrefOf(event.id)}
                  isOpen={event.id === open}
                  isCurrent={event.id === current.value}
                  isPicked={picked.value.has(event.id)}
                  onPick={() => toggle(event.id)}
                  key={event.id}
                />
              )}
              foot={<ListFoot list={list} />}
            />
            <BulkBar
              picked={picked}
              clear={() => (picked.value = new Set())}
              onDone={counts.reload}
            />
          </section>
          {open !== undefined && (
            <section class="pane pane-detail" aria-label="Event">
              <Detail
                id={open}
                onClose={close}
                onLoaded={(event) => list.update(toListed(event))}
                hasKeys={!isBulk}
                key={open}
              />
            </section>
          )}
        </div>
      </main>
    </>
  )
}

/** The dialog belongs to the bar of the selection. */
function clickReplay(): void {
  document.querySelector<HTMLButtonElement>('.picked .button')?.click()
}

function hrefOf(id: string): string {
  const next = new URLSearchParams(query.value)
  next.set('event', id)
  next.delete('attempt')
  return `/console${withQuery('/events', next)}`
}

/** The detail has the deliveries themselves, and the list their number in each state. */
function toListed(event: EventDetail): ListedEvent {
  const deliveries = { runnable: 0, retrying: 0, held: 0, failed: 0, delivered: 0, filtered: 0 }
  for (const { state } of event.deliveries) deliveries[state] += 1
  const {
    headers: _headers,
    body: _body,
    encoding: _encoding,
    attempts: _attempts,
    ...rest
  } = event
  return { ...rest, deliveries }
}

function ListHead(props: { rows: readonly ListedEvent[]; picked: { value: ReadonlySet<string> } }) {
  const { rows, picked } = props
  const count = picked.value.size
  return (
    <div class="list-head">
      <input
        class="check"
        type="checkbox"
        aria-label="Select all that are loaded"
        checked={count > 0 && count >= rows.length}
        ref={(box) => {
          if (box) box.indeterminate = count > 0 && count < rows.length
        }}
        onClick={() => (picked.value = new Set(count > 0 ? [] : rows.map(({ id }) => id)))}
      />
      <span>Status</span>
      <span>Event</span>
      <span>Source</span>
      <span>Result</span>
      <span class="head-wide">Latency</span>
      <span class="head-wide">Size</span>
      <span class="right">Received</span>
    </div>
  )
}

type List = ReturnType<typeof createEventList>

function ListFoot({ list }: { list: List }) {
  const rows = list.rows.value
  if (list.error.value !== undefined)
    return (
      <Empty
        glyph="failed"
        title="Could not load events"
        actions={
          <button class="button button-primary" type="button" onClick={list.loadMore}>
            <span>Try now</span>
          </button>
        }
      >
        {messageOf(list.error.value)}
      </Empty>
    )
  if (list.isLoading.value)
    return rows.length === 0 ? <Loading rows={10} /> : <p class="list-note">Loading older events</p>
  if (!list.isComplete.value)
    return (
      <p class="list-note">
        <button class="button button-small" type="button" onClick={list.loadMore}>
          <span>Search older events</span>
        </button>
      </p>
    )
  if (rows.length > 0) return <p class="list-note">{formatCount(rows.length, 'event')}</p>
  const filter = parseFilter(query.value)
  const isLongest = filter.from === undefined && filter.last === '30d'
  return (
    <Empty
      glyph="none"
      title="No events match"
      command="npx strongroom events list"
      actions={
        <>
          {!isLongest && (
            <button
              class="button button-primary"
              type="button"
              onClick={() => setQuery({ last: '30d', from: undefined, to: undefined })}
            >
              <span>Search the last 30 days</span>
            </button>
          )}
          <button class="button" type="button" onClick={() => navigate('/events')}>
            <span>Remove all filters</span>
          </button>
        </>
      }
    >
      No event of this time matches the filter.
    </Empty>
  )
}

function LiveLine(props: { list: List; live: ReturnType<typeof useLive>; onShow: () => void }) {
  const { list, live } = props
  const waiting = list.waiting.value.length
  const dropped = list.dropped.value
  return (
    <div class="list-top">
      {live.state.value === 'open' ? (
        <span class="live">
          <span class="live-dot" />
          Live
        </span>
      ) : (
        <span>{live.state.value === 'lost' ? 'Connection lost, reconnecting' : 'Connecting'}</span>
      )}
      <span class="num">{formatNumber(live.perSecond.value)}/s</span>
      <span class="unseen" role="status">
        {live.announced.value}
      </span>
      <span class="push" />
      {(waiting > 0 || dropped > 0) && (
        <button
          class="button button-quiet button-small"
          type="button"
          onClick={() => {
            list.showNew()
            props.onShow()
          }}
        >
          {waiting > 0 && `${formatNumber(waiting)} new`}
          {dropped > 0 && `${waiting > 0 ? ', ' : ''}${formatNumber(dropped)} not shown: reload`}
          <Icon name="up" />
        </button>
      )}
    </div>
  )
}

/** Sites of Form-Bridge: a table with filters and tabs, and the open site beside it. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { releases as releaseApi, type SiteCounts, sites } from '../../api/form-bridge.ts'
import { formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { usePagedList } from '../../parts/paged-list.ts'
import { useResource } from '../../parts/resource.ts'
import { StatusIcon, statusTone } from '../../parts/status.tsx'
import { VersionsChart } from '../../parts/versions-chart.tsx'
import { path, query, setQuery, withQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { Drawer } from './drawer.tsx'
import {
  currentTab,
  parseTyped,
  readFilter,
  type SiteFilter,
  TABS,
  tabQuery,
  toApiQuery,
} from './filter.ts'
import { Selection } from './selection.tsx'
import { SitesTable } from './table.tsx'

const ADOPTION_DAYS = 30
const TYPING_MS = 250

export default function SitesPage() {
  const filter = readFilter(query.value)
  const key = JSON.stringify(filter)
  const open = query.value.get('site') ?? undefined
  const picked = useSignal<ReadonlySet<string>>(new Set())
  const list = usePagedList(key, (cursor, abort) =>
    sites.list({ ...toApiQuery(filter), cursor, limit: 50 }, abort),
  )
  const counts = useResource((abort) => sites.counts(abort))
  const releases = useResource((abort) => releaseApi.list(abort))
  const adoption = useResource((abort) => releaseApi.adoption(ADOPTION_DAYS, abort))
  const items = list.items.value ?? []
  const known = releases.data.value?.items ?? []
  const searchRef = useRef<HTMLInputElement>(null)

  useEffect(() => {
    picked.value = new Set()
  }, [key])

  const reload = () => {
    list.reload()
    counts.reload()
  }
  const openSite = (id: string | undefined) => setQuery({ site: id })
  const step = (by: number) => {
    const at = items.findIndex(({ site_id }) => site_id === open)
    const next = items[Math.max(0, Math.min(items.length - 1, at === -1 ? 0 : at + by))]
    if (next) setQuery({ site: next.site_id }, { replace: open !== undefined })
  }
  const toggle = (id: string) => {
    const next = new Set(picked.value)
    if (!next.delete(id)) next.add(id)
    picked.value = next
  }
  useKeys(
    [
      { keys: 'j', label: 'Next site', run: () => step(1) },
      { keys: 'k', label: 'Previous site', run: () => step(-1) },
      { keys: 'ArrowDown', label: 'Next site', run: () => step(1) },
      { keys: 'ArrowUp', label: 'Previous site', run: () => step(-1) },
      { keys: 'x', label: 'Select the site', run: () => open !== undefined && toggle(open) },
      { keys: '/', label: 'Filter', run: () => searchRef.current?.focus() },
      {
        keys: 'Escape',
        label: 'Close the site, then clear the selection',
        run: () => {
          if (document.activeElement === searchRef.current) searchRef.current?.blur()
          else if (open !== undefined) openSite(undefined)
          else picked.value = new Set()
        },
      },
    ],
    [items, open],
  )

  const hasDetail = open !== undefined
  return (
    <div class={`fill${hasDetail ? ' has-detail' : ''}`}>
      <Bar title="Sites" note={counts.data.value && totalOf(counts.data.value)} />
      <main id="main">
        <SearchBar filter={filter} inputRef={searchRef} />
        <Tabs filter={filter} counts={counts.data.value} />
        <div class={`split split-sites ${hasDetail ? 'is-detail' : 'is-closed'}`}>
          <section class="pane pane-list" aria-label="Sites">
            <div class="pane-scroll sites-scroll" tabIndex={0} aria-label="Sites">
              <SitesTable
                list={list}
                filter={filter}
                releases={known}
                open={open}
                picked={picked.value}
                onToggle={toggle}
                onPickAll={(all) =>
                  (picked.value = new Set(all ? items.map(({ site_id }) => site_id) : []))
                }
                hrefOf={(id) => `/console${withQuery(path.value, withSite(id))}`}
                chart={
                  adoption.data.value && (
                    <VersionsChart
                      adoption={adoption.data.value}
                      releases={known}
                      title={`Versions in use, last ${ADOPTION_DAYS} days`}
                      hrefOf={(version) =>
                        `/console/server/sites?version=${encodeURIComponent(version)}`
                      }
                    />
                  )
                }
              />
            </div>
            <Selection
              sites={items.filter(({ site_id }) => picked.value.has(site_id))}
              onClear={() => (picked.value = new Set())}
              onDone={reload}
            />
          </section>
          {open !== undefined && (
            <Drawer
              key={open}
              id={open}
              releases={known}
              onClose={() => openSite(undefined)}
              onChange={reload}
            />
          )}
        </div>
      </main>
    </div>
  )
}

function withSite(id: string): URLSearchParams {
  const next = new URLSearchParams(query.value)
  next.set('site', id)
  return next
}

function totalOf({ active, suspended, disabled }: SiteCounts): string {
  const total = active.count + suspended.count
  const isComplete = active.is_complete && suspended.is_complete
  return `${formatNumber(total)}${isComplete ? '' : '+'} connected, ${formatNumber(disabled.count)} disabled`
}

function SearchBar(props: { filter: SiteFilter; inputRef: { current: HTMLInputElement | null } }) {
  const { filter, inputRef } = props
  const typed = useSignal(filter.text ?? '')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (document.activeElement !== inputRef.current) typed.value = filter.text ?? ''
  }, [filter.text])
  useEffect(() => () => clearTimeout(timer.current), [])
  const apply = (text: string) => {
    clearTimeout(timer.current)
    const changes = parseTyped(text)
    if (changes['q'] === undefined && text.trim() !== '') typed.value = ''
    setQuery(changes, { replace: true })
  }
  const tokens = [
    ['version', filter.version],
    ['agency', filter.agency],
    ['seen', filter.seen],
  ] as const
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filter sites"
      onSubmit={(event) => {
        event.preventDefault()
        apply(typed.value)
      }}
    >
      <div class="query">
        <Icon name="search" />
        {tokens.map(
          ([name, value]) =>
            value !== undefined && (
              <span class="token" key={name}>
                <span class="token-text">
                  {TOKEN_WORDS[name]} <b>{value}</b>
                </span>
                <button
                  type="button"
                  aria-label={`Remove the filter ${name}`}
                  onClick={() => setQuery({ [name]: undefined })}
                >
                  <Icon name="close" />
                </button>
              </span>
            ),
        )}
        <input
          type="text"
          ref={inputRef}
          aria-label="Filter by domain, version:…, agency:… or seen:14d"
          placeholder="Filter by domain, version:…, agency:… or seen:14d"
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          value={typed.value}
          onInput={(event) => {
            const text = event.currentTarget.value
            typed.value = text
            clearTimeout(timer.current)
            // A filter with a name applies with Enter, when it is complete.
            if (!/^(?:version|agency|seen):/.test(text)) {
              timer.current = setTimeout(() => apply(text), TYPING_MS)
            }
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        <kbd>/</kbd>
      </div>
    </form>
  )
}

const TOKEN_WORDS = { version: 'Version', agency: 'Agency', seen: 'Not seen for' } as const

function Tabs({ filter, counts }: { filter: SiteFilter; counts: SiteCounts | undefined }) {
  const current = currentTab(filter)
  const hrefOf = (status: (typeof TABS)[number]['status']) => {
    const next = new URLSearchParams(query.value)
    next.delete('site')
    for (const [name, value] of Object.entries(tabQuery(status))) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
    return `/console${withQuery('/server/sites', next)}`
  }
  return (
    <nav class="tabs tabs-bar status-tabs" aria-label="Status">
      {TABS.map(({ status, label, count }) => {
        const counted = count && counts?.[count]
        return (
          <a
            class={status === 'all' ? 'tab' : `tab st-tab is-${statusTone(status)}`}
            href={hrefOf(status)}
            aria-current={status === current ? 'true' : undefined}
            key={status}
          >
            {status !== 'all' && <StatusIcon status={status} />}
            <span>{label}</span>
            {counted && <span class="count">{countText(counted)}</span>}
            {status === 'all' && counts && <span class="count">{countText(sum(counts))}</span>}
          </a>
        )
      })}
      <a class="tab st-tab is-info" href="/console/server/registrations">
        <StatusIcon status="pending" />
        <span>Pending</span>
        {counts && <span class="count">{countText(counts.pending_registrations)}</span>}
      </a>
    </nav>
  )
}

type Counted = SiteCounts['active']

/** `2,000+` where there may be more. */
function countText({ count, is_complete }: Counted): string {
  return formatNumber(count) + (is_complete ? '' : '+')
}

function sum({ active, suspended, disabled }: SiteCounts): Counted {
  const all = [active, suspended, disabled]
  return {
    count: all.reduce((total, { count }) => total + count, 0),
    is_complete: all.every(({ is_complete }) => is_complete),
  }
}

/** The rows of the list of sites: a table, on a phone a list of cards. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ReleaseLine, SiteLine } from '../../api/form-bridge.ts'
import { messageOf } from '../../api/errors.ts'
import { now } from '../../parts/format.ts'
import { More } from '../../parts/more.tsx'
import type { PagedList } from '../../parts/paged-list.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { versionState } from '../../parts/versions.ts'
import type { SiteFilter } from './filter.ts'
import { statusOfSite } from './status.ts'

/** A site that is this many versions behind is marked as a warning. */
const WARN_BEHIND = 2

export function SitesTable(props: {
  list: PagedList<SiteLine>
  filter: SiteFilter
  releases: readonly ReleaseLine[]
  open: string | undefined
  picked: ReadonlySet<string>
  onToggle: (id: string) => void
  onPickAll: (all: boolean) => void
  hrefOf: (id: string) => string
  /** Above the rows; below them on a phone, where it would push the list down. */
  chart: ComponentChildren
}) {
  const { list, filter, picked, chart } = props
  const items = list.items.value
  const error = list.error.value
  if (items === undefined) {
    if (error === undefined) return <Loading rows={8} />
    return <Failed what="sites" resource={list} />
  }
  if (items.length === 0 && !list.isLoading.value) return <NoSites filter={filter} />
  return (
    <div class="sites-order">
      {chart}
      <div class="sites-rows">
        <table class="table table-cards table-sites">
          <thead>
            <tr>
              <th class="fit">
                <input
                  class="check"
                  type="checkbox"
                  aria-label="Select all loaded sites"
                  checked={picked.size > 0 && picked.size === items.length}
                  indeterminate={picked.size > 0 && picked.size < items.length}
                  onChange={(event) => props.onPickAll(event.currentTarget.checked)}
                />
              </th>
              <th>Domain</th>
              <th>Status</th>
              <th>Version</th>
              <th class="col-agency">Agency</th>
              <th class="right">Seen</th>
            </tr>
          </thead>
          <tbody>
            {items.map((site) => (
              <Row site={site} {...props} key={site.site_id} />
            ))}
          </tbody>
        </table>
        <More list={list} />
        {error !== undefined && <p class="list-note">{messageOf(error)}</p>}
      </div>
    </div>
  )
}

function Row(props: {
  site: SiteLine
  releases: readonly ReleaseLine[]
  open: string | undefined
  picked: ReadonlySet<string>
  onToggle: (id: string) => void
  hrefOf: (id: string) => string
}) {
  const { site, open, picked } = props
  const isOpen = site.site_id === open
  const ref = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isOpen) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <tr class={isOpen ? 'is-open' : ''} ref={ref}>
      <td class="fit card-none">
        <input
          class="check"
          type="checkbox"
          aria-label={`Select ${site.domain}`}
          checked={picked.has(site.site_id)}
          onChange={() => props.onToggle(site.site_id)}
        />
      </td>
      <td class="card-main">
        <span class="site-name">
          <a
            class="link cut"
            href={props.hrefOf(site.site_id)}
            title={site.domain}
            aria-current={isOpen ? 'true' : undefined}
          >
            <bdi>{site.domain}</bdi>
          </a>
          {site.environment !== 'production' && (
            <span class="tag">{capital(site.environment)}</span>
          )}
        </span>
      </td>
      <td class="fit">
        <Status status={statusOfSite(site, now.value)} look="quiet" />
      </td>
      <td class="fit" data-name="Version">
        <VersionCell version={site.installed_version} releases={props.releases} />
      </td>
      <td class="col-agency soft card-none cut-cell">
        {site.agency ? <bdi>{site.agency.agency_name}</bdi> : <span class="faint">None</span>}
      </td>
      <td class="right soft fit" data-name="Seen">
        <RelativeTime time={site.last_seen} />
      </td>
    </tr>
  )
}

function VersionCell(props: { version: string | null; releases: readonly ReleaseLine[] }) {
  const { version, releases } = props
  if (version === null)
    return (
      <span class="faint" title="The site has not checked for updates">
        Unknown
      </span>
    )
  const { isWithdrawn, behind } = versionState(version, releases)
  return (
    <span class="version">
      <span class="num cut">{version}</span>
      {isWithdrawn && <span class="tag tag-bad">Withdrawn</span>}
      {!isWithdrawn && behind !== undefined && behind > 0 && (
        <span class={`tag${behind >= WARN_BEHIND ? ' tag-warn' : ''}`}>{behind} behind</span>
      )}
    </span>
  )
}

function NoSites({ filter }: { filter: SiteFilter }) {
  const { status, version, agency, seen, text } = filter
  const isFiltered =
    status !== 'all' || [version, agency, seen, text].some((value) => value !== undefined)
  if (!isFiltered)
    return (
      <Empty title="No sites yet" command="strongroom plugin build --service … --public-key …">
        A site appears here when its owner has installed the plugin and connected it to this server.
      </Empty>
    )
  return (
    <Empty
      glyph="none"
      title={text === undefined ? 'No site matches the filter' : `No domain contains “${text}”`}
      actions={
        <a class="button button-primary" href="/console/server/sites">
          <span>Show all sites</span>
        </a>
      }
    >
      {[
        status !== 'all' && `status ${status}`,
        version !== undefined && `version ${version}`,
        agency !== undefined && 'of one agency',
        seen !== undefined && `not seen for ${Number.parseInt(seen, 10)} days`,
      ]
        .filter(Boolean)
        .join(', ')}
    </Empty>
  )
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

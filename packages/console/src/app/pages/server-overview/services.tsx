/** Each service with its state, its requests and what is worth knowing. */
import { useId } from 'preact/hooks'
import { formatDuration, formatPercent, formatRate } from '../../parts/format.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Status } from '../../parts/status.tsx'
import type { Figures, Period, ServerStatus, ServiceFigures } from './api.ts'

type ServiceStatus = ServerStatus['services'][number]

const LOOKS: Readonly<Record<string, { icon: IconName; page: string }>> = {
  sealed: { icon: 'sealed', page: '/console/server/sealed' },
  ferryhook: { icon: 'ferryhook', page: '/console/server/accounts' },
  'form-bridge': { icon: 'form-bridge', page: '/console/server/sites' },
  'key-store': { icon: 'key', page: '/console/server/keys' },
  'two-key': { icon: 'two-key', page: '/console/server/slack' },
}

/** From this share of 5xx on, a service is a problem. */
const BAD_SHARE = 0.01

export function Services(props: {
  services: readonly ServiceStatus[]
  figures: Figures | undefined
  period: Period
}) {
  const { services, figures, period } = props
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>Services</h2>
      </div>
      <div class="table-wrap">
        <table class="table table-cards table-services">
          <thead>
            <tr>
              <th>Service</th>
              <th>State</th>
              <th>Requests, {period.replace('h', ' h')}</th>
              <th class="right">Now</th>
              <th class="right">Errors</th>
              <th class="right">p95</th>
              <th>Of note</th>
            </tr>
          </thead>
          <tbody>
            {services.map((service) => (
              <ServiceRow
                key={service.name}
                service={service}
                figures={figures?.services.find(({ name }) => name === service.name)?.figures}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function ServiceRow(props: { service: ServiceStatus; figures: ServiceFigures | undefined }) {
  const { service, figures } = props
  const { icon, page } = LOOKS[service.name] ?? { icon: 'server', page: undefined }
  const share =
    figures && figures.total.requests > 0 ? figures.total.errors / figures.total.requests : 0
  const isBad = share >= BAD_SHARE
  const isReady = service.state === 'ready'
  return (
    <tr>
      <td class="card-main">
        <span class="svc">
          <Icon name={icon} />
          {page === undefined ? (
            service.title
          ) : (
            <a class="link" href={page}>
              {service.title}
            </a>
          )}
        </span>
      </td>
      <td>
        {isReady ? <Status status="ready" look="quiet" /> : <Status status={service.state} />}
      </td>
      <td class="card-none">{figures && <Sparkline values={totals(figures)} isBad={isBad} />}</td>
      <td class="right" data-name="Requests">
        {figures ? formatRate(figures.current.perSecond) : '0/s'}
      </td>
      <td class={isBad ? 'right st-text is-bad strong' : 'right'} data-name="Errors">
        {formatPercent(share)}
      </td>
      <td class="right" data-name="p95">
        {latency(figures)}
      </td>
      <td class="soft card-wide svc-note">{service.note}</td>
    </tr>
  )
}

/** Of the last minutes, or of the period if there were no requests in them. */
function latency(figures: ServiceFigures | undefined): string {
  const ms = figures?.current.p95Ms ?? figures?.total.p95Ms ?? null
  return ms === null ? '–' : formatDuration(ms)
}

function totals({ requests }: ServiceFigures): number[] {
  return requests['2xx'].map(
    (count, step) =>
      count +
      (requests['3xx'][step] ?? 0) +
      (requests['4xx'][step] ?? 0) +
      (requests['5xx'][step] ?? 0),
  )
}

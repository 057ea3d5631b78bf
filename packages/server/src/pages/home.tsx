import { Layout, Mark, ServiceGlyph } from './layout.tsx'
import type { Problem } from '@strongroom/kit/service-status'
import { safeHref } from './content.ts'
import { guideGroups } from './guides/list.ts'

interface HomeService {
  /** As in paths: `form-bridge`. */
  name: string
  title: string
  summary: string
  /** The link of its card: its page, or its part of the API reference. */
  href: string
}

export interface HomeProps {
  version: string
  /** In the order of the cards. */
  services: readonly HomeService[]
  /** Public, like the next: no credentials in it. */
  store: { kind: 'embedded' | 'endpoint' | 'aws'; label: string; detail: string }
  kms: { label: string; detail: string }
  publicUrl: string
  /** Like /readyz. */
  ready: boolean
  startedAt: Date
  /** The path of metrics on this port; null where they have a port of their own. */
  metricsPath: string | null
  /** Only for an operator who is signed in: what needs attention. */
  problems?: readonly Pick<Problem, 'severity' | 'title' | 'explanation'>[] | undefined
}

const STORES = {
  embedded: "In this process, on this machine's disk",
  endpoint: 'At a DynamoDB endpoint',
  aws: 'In an AWS account',
} as const

export function HomePage(props: HomeProps) {
  const sealed = props.services.find(({ name }) => name === 'sealed')
  return (
    <Layout
      title="Strongroom"
      description="Secrets, webhooks, WordPress sites and keys on your own server."
      page="home"
      version={props.version}
    >
      <main id="content" class="home">
        <div class="hero">
          <div class="hero-text">
            <h1>Secrets, webhooks, WordPress sites and keys on your own server.</h1>
            <p class="lede">
              Share secrets, relay webhooks, connect WordPress sites and manage encryption keys:
              five services, one process, nothing else to install.
            </p>
            <p class="actions">
              <a class="button button-primary" href="/console/">
                Open the console
              </a>
              {sealed === undefined ? null : (
                <a class="button" href={safeHref(sealed.href)}>
                  Seal a secret
                </a>
              )}
              <a class="button" href="/docs/guides">
                Read the guides
              </a>
            </p>
          </div>
          <Nameplate {...props} />
        </div>
        {props.problems === undefined ? null : <Attention problems={props.problems} />}
        <Services services={props.services} />
        <Guides />
        <Endpoints metricsPath={props.metricsPath} />
      </main>
    </Layout>
  )
}

function Nameplate({ ready, store, kms, publicUrl, version, startedAt }: HomeProps) {
  return (
    <section class="plate" aria-labelledby="this-server">
      <div class="plate-head">
        <h2 id="this-server">This server</h2>
        <a class={ready ? 'status status-ready' : 'status status-waiting'} href="/readyz">
          {ready ? 'Ready' : 'Not ready'}
        </a>
      </div>
      <dl class="facts">
        <div>
          <dt>Store</dt>
          <dd>
            <span class="fact-main">{store.label}</span>
            {store.detail === '' ? null : <code>{store.detail}</code>}
            <span class="fact-note">{STORES[store.kind]}</span>
          </dd>
        </div>
        <div>
          <dt>Keys</dt>
          <dd>
            <span class="fact-main">{kms.label}</span>
            {kms.detail === '' ? null : <code>{kms.detail}</code>}
          </dd>
        </div>
        <div>
          <dt>Address</dt>
          <dd>
            <code>{publicUrl}</code>
          </dd>
        </div>
        <div>
          <dt>Version</dt>
          <dd>{version}</dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <time datetime={startedAt.toISOString()}>{minuteInUtc(startedAt)}</time>
          </dd>
        </div>
      </dl>
    </section>
  )
}

function minuteInUtc(moment: Date): string {
  const [day = '', time = ''] = moment.toISOString().split('T')
  return `${day}, ${time.slice(0, 5)} UTC`
}

/** For operators: visitors are not told what is wrong with the server. */
function Attention({ problems }: { problems: NonNullable<HomeProps['problems']> }) {
  return (
    <section class="block" aria-labelledby="attention">
      <div class="block-head">
        <h2 id="attention">Needs attention</h2>
        <p>
          {problems.length === 0
            ? 'Nothing now'
            : `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}, shown to operators only`}
        </p>
      </div>
      {problems.length === 0 ? null : (
        <ul class="attention">
          {problems.map(({ severity, title, explanation }) => (
            <li class={`attention-${severity}`}>
              <a href="/console/server">{title}</a>
              <p>{explanation}</p>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Guides() {
  return (
    <section class="block" aria-labelledby="guides">
      <div class="block-head">
        <h2 id="guides">Guides</h2>
        <p>
          <a href="/docs/guides">All guides</a>
        </p>
      </div>
      <ul class="endpoints">
        {guideGroups.slice(0, 2).flatMap((group) =>
          group.guides.map(({ name, title, summary }) => (
            <li>
              <a href={`/docs/guides/${name}`}>
                <span class="endpoint-name">{title}</span>{' '}
                <span class="endpoint-text">{summary}</span>
              </a>
            </li>
          )),
        )}
      </ul>
    </section>
  )
}

function Services({ services }: { services: readonly HomeService[] }) {
  return (
    <section class="block" aria-labelledby="services">
      <div class="block-head">
        <h2 id="services">Services</h2>
        {services.length === 0 ? null : <p>{services.length} running</p>}
      </div>
      {services.length === 0 ? (
        <div class="empty">
          <Mark class="mark mark-hollow" />
          <div>
            <h3>No service is running</h3>
            <p>
              This server has its store, API reference, health checks and metrics. Each service that
              runs gets a card here.
            </p>
          </div>
        </div>
      ) : (
        <ul class={services.length === 1 ? 'cards cards-single' : 'cards'}>
          {services.map((service) => (
            <ServiceCard {...service} />
          ))}
        </ul>
      )}
    </section>
  )
}

function ServiceCard({ name, title, summary, href }: HomeService) {
  return (
    <li class="card">
      <ServiceGlyph name={name} />
      <h3>
        <a class="card-link" href={safeHref(href)}>
          {title}
        </a>
      </h3>
      <p>{summary}</p>
      {href.startsWith('/docs') ? (
        <span class="card-path">API reference</span>
      ) : (
        <code class="card-path">{href}</code>
      )}
    </li>
  )
}

interface Endpoint {
  path: string
  name: string
  text: string
}

const ENDPOINTS: readonly Endpoint[] = [
  { path: '/console/', name: 'Console', text: 'For Ferryhook users and operators' },
  { path: '/docs', name: 'API reference', text: 'Every operation, one page for each service' },
  { path: '/openapi.json', name: 'OpenAPI 3.1', text: 'The same reference for clients and tools' },
  { path: '/healthz', name: 'Liveness', text: 'The process responds' },
  { path: '/readyz', name: 'Readiness', text: 'The store and the KMS respond too' },
]

function Endpoints({ metricsPath }: { metricsPath: string | null }) {
  const metrics = metricsPath === null ? undefined : safeHref(metricsPath)
  const endpoints =
    metrics === undefined
      ? ENDPOINTS
      : [
          ...ENDPOINTS,
          { path: metrics, name: 'Metrics', text: 'Prometheus text format, for operators' },
        ]
  return (
    <section class="block" aria-labelledby="endpoints">
      <div class="block-head">
        <h2 id="endpoints">Endpoints</h2>
      </div>
      <ul class="endpoints">
        {endpoints.map(({ path, name, text }) => (
          <li>
            <a href={path}>
              <span class="endpoint-name">{name}</span> <span class="endpoint-text">{text}</span>{' '}
              <code>{path}</code>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

import { hashSource, pagePolicy } from '@strongroom/kit/http/content-security-policy'
import type { NotFoundPage } from '@strongroom/kit/http/app'
import { accepts } from 'hono/accepts'
import { stylesheet, renderPage } from './content.ts'
import { Layout, type OwnHost } from './layout.tsx'

const policy = pagePolicy({ styles: ["'self'"], images: ["'self'"] })
const ownHostPolicy = pagePolicy({ styles: [hashSource(stylesheet.body)] })

/** Paths for programs only: they always get JSON. */
const API_PATH = /\/(?:v1|in)(?:\/|$)/

/** For a person who mistyped an address; programs get the error. */
export function notFoundPage(version: string, ownHost?: OwnHost): NotFoundPage {
  return async (c) => {
    const { method, path } = c.req
    if ((method !== 'GET' && method !== 'HEAD') || API_PATH.test(path)) return undefined
    const json = 'application/json'
    const type = accepts(c, { header: 'Accept', supports: [json, 'text/html'], default: json })
    if (type === json) return undefined
    c.header('content-security-policy', ownHost ? ownHostPolicy : policy)
    c.header('cache-control', 'no-store')
    return c.html(await renderPage(<NotFound version={version} ownHost={ownHost} />), 404)
  }
}

/** The same for every URL: it contains nothing from the request. */
function NotFound({ version, ownHost }: { version: string; ownHost: OwnHost | undefined }) {
  const leadsOn = ownHost?.hasPage ?? true
  return (
    <Layout
      title={`Not found · ${ownHost?.title ?? 'Strongroom'}`}
      description="Page not found."
      page="not-found"
      version={version}
      ownHost={ownHost}
    >
      <main id="content" class="home">
        <div class="hero-text">
          <p class="eyebrow">404</p>
          <h1>Page not found.</h1>
          <p class="lede">
            Check the address for typing errors{leadsOn ? ', or start at the home page' : ''}.
          </p>
          {leadsOn ? <Links isWhole={ownHost === undefined} /> : null}
        </div>
      </main>
    </Layout>
  )
}

function Links({ isWhole }: { isWhole: boolean }) {
  return (
    <p class="actions">
      <a class="button button-primary" href="/">
        Home page
      </a>
      {isWhole ? (
        <a class="button" href="/docs">
          API reference
        </a>
      ) : null}
    </p>
  )
}

/** The API reference. The page is complete: its script only filters, copies and marks the position. */
import { referenceScript } from './content.ts'
import { Layout } from './layout.tsx'
import { type Api, type Group, type NamedSchema, describeApi } from './reference/api.ts'
import { Method, OperationArticle, Path } from './reference/operation-article.tsx'
import { Prose } from './reference/prose.tsx'
import { SchemaTree } from './reference/schema-tree.tsx'

export interface DocsProps {
  /** An OpenAPI 3.1 document; parts that are missing or malformed are left out. */
  document: unknown
  /** The pages of single services, the current one marked. */
  pages?: readonly ReferencePage[]
}

export interface ReferencePage {
  title: string
  href: string
  isCurrent?: boolean
}

export function DocsPage({ document, pages = [] }: DocsProps) {
  const api = describeApi(document)
  const current = pages.find(({ isCurrent, href }) => isCurrent && href !== '/docs')
  return (
    <Layout
      title={`${current ? `${current.title} API` : 'API reference'} · ${api.title}`}
      description={`Every operation of ${current?.title ?? api.title}`}
      page="docs"
      version={api.version}
      script={referenceScript.path}
    >
      <div class="docs">
        <Sidebar api={api} />
        <main id="content">
          <Introduction api={api} current={current} pages={pages} />
          {api.groups.map((group) => (
            <GroupSection {...group} />
          ))}
          <Schemas schemas={api.schemas} />
        </main>
      </div>
    </Layout>
  )
}

function Introduction(props: {
  api: Api
  current: ReferencePage | undefined
  pages: readonly ReferencePage[]
}) {
  const { api, current, pages } = props
  const { title, version, description, server, schemes, groups } = api
  return (
    <div class="intro">
      <p class="eyebrow">
        {title} {version}
      </p>
      <h1>{current ? `${current.title} API` : 'API reference'}</h1>
      <Prose text={description} class="lede" />
      {pages.length === 0 ? null : (
        <nav class="reference-pages" aria-label="Services">
          {pages.map(({ title: name, href, isCurrent }) => (
            <a href={href} aria-current={isCurrent ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
      )}
      <dl class="intro-facts">
        {server === undefined ? null : (
          <div>
            <dt>Address</dt>
            <dd>
              <code>{server}</code>
            </dd>
          </div>
        )}
        <div>
          <dt>Document</dt>
          <dd>
            <a href="/openapi.json">/openapi.json</a>
          </dd>
        </div>
        {schemes.length === 0 ? null : (
          <div>
            <dt>Get a key</dt>
            <dd>
              <ul class="schemes">
                {schemes.map((scheme) => (
                  <li>
                    {scheme.title}
                    <Prose text={scheme.description} />
                  </li>
                ))}
              </ul>
            </dd>
          </div>
        )}
      </dl>
      {groups.length > 0 ? null : (
        <div class="empty">
          <div>
            <h2>No operations</h2>
            <p>
              The OpenAPI document of this server is empty. Each service that runs adds its own.
            </p>
          </div>
        </div>
      )}
    </div>
  )
}

function GroupSection({ name, anchor, description, operations }: Group) {
  return (
    <section class="group" id={anchor} aria-labelledby={`${anchor}-title`}>
      <h2 id={`${anchor}-title`}>
        <a class="permalink" href={`#${anchor}`}>
          {name}
        </a>
      </h2>
      <Prose text={description} />
      <ul class="index">
        {operations.map((operation) => (
          <li>
            <a href={`#${operation.anchor}`}>
              <Method method={operation.method} /> <Path path={operation.path} />
            </a>
          </li>
        ))}
      </ul>
      {operations.map((operation) => (
        <OperationArticle {...operation} />
      ))}
    </section>
  )
}

function Schemas({ schemas }: { schemas: readonly NamedSchema[] }) {
  if (schemas.length === 0) return null
  return (
    <section class="group" id="schemas" aria-labelledby="schemas-title">
      <h2 id="schemas-title">
        <a class="permalink" href="#schemas">
          Schemas
        </a>
      </h2>
      {schemas.map(({ name, anchor, schema }) => (
        <article class="named-schema" id={anchor} aria-labelledby={`${anchor}-title`}>
          <h3 id={`${anchor}-title`}>
            <a class="permalink" href={`#${anchor}`}>
              {name}
            </a>
          </h3>
          <SchemaTree schema={schema} isNamed />
        </article>
      ))}
    </section>
  )
}

function Sidebar({ api: { groups, schemas } }: { api: Api }) {
  return (
    <nav class="sidebar" aria-label="Contents">
      <div class="filter" hidden>
        <label for="filter">Filter</label>
        <input
          id="filter"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="Filter"
        />
        <p class="filter-none" role="status"></p>
      </div>
      {groups.map(({ name, anchor, operations }) => (
        <div class="sidebar-group">
          <a class="sidebar-title" href={`#${anchor}`}>
            {name}
          </a>
          <ul>
            {operations.map((operation) => (
              <li>
                <a href={`#${operation.anchor}`}>
                  <span>{operation.summary ?? operation.path}</span>{' '}
                  <Method method={operation.method} />
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {schemas.length === 0 ? null : (
        <div class="sidebar-group">
          <a class="sidebar-title" href="#schemas">
            Schemas
          </a>
          <ul>
            {schemas.map(({ name, anchor }) => (
              <li>
                <a href={`#${anchor}`}>
                  <span>{name}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
    </nav>
  )
}

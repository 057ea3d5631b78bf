/** The API reference. Everything is in the page: the script only filters, copies and marks the place. */
import { referenceScript } from './assets.ts'
import { Layout } from './layout.tsx'
import { type Api, describeApi, type Group, type NamedSchema } from './reference/api.ts'
import { Method, OperationArticle, Path } from './reference/operation-article.tsx'
import { Prose } from './reference/prose.tsx'
import { SchemaTree } from './reference/schema-tree.tsx'
import { Sidebar } from './reference/sidebar.tsx'

export interface DocsProps {
  /** An OpenAPI 3.1 document; what is missing or not as expected in it is left out. */
  document: unknown
}

export function DocsPage({ document }: DocsProps) {
  const api = describeApi(document)
  return (
    <Layout
      title={`API reference · ${api.title}`}
      description={`Every operation of ${api.title}`}
      page="docs"
      version={api.version}
      script={referenceScript.path}
    >
      <div class="docs">
        <Sidebar api={api} />
        <main id="content">
          <Introduction {...api} />
          {api.groups.map((group) => (
            <GroupSection {...group} />
          ))}
          <Schemas schemas={api.schemas} />
        </main>
      </div>
    </Layout>
  )
}

function Introduction({ title, version, description, server, schemes, groups }: Api) {
  return (
    <div class="intro">
      <p class="eyebrow">
        {title} {version}
      </p>
      <h1>API reference</h1>
      <Prose text={description} class="lede" />
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
            <dt>Access</dt>
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
            <h2>No operation yet</h2>
            <p>
              The document of this server describes none. Each service that is mounted adds its own.
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

import type { Operation } from './operation.ts'
import { Inline, Prose } from './prose.tsx'
import { type ResponseView, type Content, type ErrorLine, exampleText } from './responses.ts'
import { PropertyList, SchemaTree } from './schema-tree.tsx'

export function Method({ method }: { method: string }) {
  return <span class={`method method-${method.toLowerCase()}`}>{method}</span>
}

/** A long path breaks after a slash. */
export function Path({ path }: { path: string }) {
  const [first = '', ...rest] = path.split('/')
  return (
    <code class="path">
      {first}
      {rest.map((part) => (
        <>
          /<wbr />
          {part}
        </>
      ))}
    </code>
  )
}

export function OperationArticle(operation: Operation) {
  const { anchor, method, path, summary, description, deprecated, security, permission } = operation
  return (
    <article class="operation" id={anchor} aria-labelledby={`${anchor}-title`}>
      <header>
        <h3 id={`${anchor}-title`}>
          <a class="permalink" href={`#${anchor}`}>
            {summary ?? `${method} ${path}`}
          </a>
          {deprecated ? <span class="deprecated">deprecated</span> : null}
        </h3>
        <p class="endpoint">
          <Method method={method} /> <Path path={path} />
        </p>
      </header>
      <div class="operation-text">
        <Prose text={description} />
        {security === undefined ? null : (
          <p class="access">
            <span class="label">Access</span> {security}
            {permission === undefined ? null : `, permission ${permission}`}
          </p>
        )}
        {operation.parameters.map(({ title, parameters }) => (
          <section>
            <h4>{title}</h4>
            <PropertyList properties={parameters} />
          </section>
        ))}
        <RequestBody body={operation.body} />
        {operation.responses.map((response) => (
          <ResponseSection {...response} />
        ))}
        <Errors errors={operation.errors} />
      </div>
      <Samples operation={operation} />
    </article>
  )
}

function RequestBody({ body }: { body: Operation['body'] }) {
  if (body === undefined) return null
  return (
    <section>
      <h4>Request body {body.required ? <span class="required">required</span> : null}</h4>
      <Prose text={body.description} />
      <Contents content={body.content} />
    </section>
  )
}

function ResponseSection({ status, description, headers, content }: ResponseView) {
  return (
    <section>
      <h4>
        Response <code class="status-code">{status}</code>
      </h4>
      <Prose text={description} />
      {headers.length === 0 ? null : (
        <>
          <p class="label">Headers</p>
          <PropertyList properties={headers} />
        </>
      )}
      <Contents content={content} />
    </section>
  )
}

function Contents({ content }: { content: readonly Content[] }) {
  return (
    <>
      {content.map(({ type, schema }) => (
        <div class="content">
          <p class="media-type">
            <code>{type}</code>
          </p>
          {schema === undefined ? null : <SchemaTree schema={schema} />}
        </div>
      ))}
    </>
  )
}

function Errors({ errors }: { errors: readonly ErrorLine[] }) {
  if (errors.length === 0) return null
  return (
    <section>
      <h4>Errors</h4>
      <ul class="errors">
        {errors.map(({ status, code, text, link }) => (
          <li>
            <code class="status-code">{status}</code>
            <div>
              {code === undefined ? null : <code class="error-code">{code}</code>}
              <p>
                <Inline text={text} />
                {link === undefined || code !== undefined ? null : (
                  <>
                    {' '}
                    <a href={`#${link.anchor}`}>{link.name}</a>
                  </>
                )}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Samples({ operation: { curl, responses, body, isWebhook } }: { operation: Operation }) {
  const [response] = responses
  const content = isWebhook ? body?.content[0] : response?.content[0]
  const example = content === undefined ? undefined : exampleText(content)
  if (curl === undefined && example === undefined) return null
  return (
    <div class="samples">
      {curl === undefined ? null : <Sample title="Request" text={curl} />}
      {example === undefined ? null : (
        <Sample
          title={isWebhook ? 'Body' : `Response ${response?.status ?? ''}`}
          note={content?.example.isMade ? 'made from the schema' : undefined}
          text={example}
        />
      )}
    </div>
  )
}

function Sample({ title, note, text }: { title: string; note?: string | undefined; text: string }) {
  return (
    <figure class="sample">
      <figcaption>
        <span>
          {title}
          {note === undefined ? null : <span class="sample-note"> {note}</span>}
        </span>
        <button type="button" class="copy" hidden>
          Copy
        </button>
      </figcaption>
      <pre tabindex={0} aria-label={title}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

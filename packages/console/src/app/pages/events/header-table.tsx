/** Names and values as text. */
import { showInvisible } from '../../parts/code-text.ts'

type Value = string | readonly string[]

export function HeaderTable({ headers }: { headers: readonly (readonly [string, Value])[] }) {
  const rows = headers.flatMap(([name, value]) =>
    [value].flat().map((each) => ({ name, value: each })),
  )
  if (rows.length === 0) return <p class="list-note">None</p>
  return (
    <div class="table-wrap header-wrap" tabIndex={0} role="region" aria-label="Names and values">
      <table class="headers">
        <tbody>
          {rows.map(({ name, value }, index) => (
            <tr key={index}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              <td>
                <bdi>
                  {value === '(not kept)' ? (
                    <span class="faint">credential, not stored</span>
                  ) : (
                    showInvisible({ text: value }).map(({ text, look }) =>
                      look ? <span class={look}>{text}</span> : text,
                    )
                  )}
                </bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

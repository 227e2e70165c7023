import { mayReadDecisions } from '../api/decisions.js';
import { ApiError } from '../api/http.js';
import { hrefOf } from '../router.js';

/** The text of an error, as the user sees it. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return 'the server cannot be reached';
  return error instanceof Error ? error.message : String(error);
}

/** A failure, with the operation, and the id of the request, by which the server can explain it. */
export function Failure({ error, doing }: { readonly error: unknown; readonly doing: string }) {
  const auditId = error instanceof ApiError ? error.auditId : undefined;
  return (
    <div class="notice bad" role="alert">
      <strong>
        {doing}: {error instanceof ApiError ? `${error.code} ${error.reason}` : 'failed'}
      </strong>
      <p>{messageOf(error)}</p>
      {auditId && (
        <p class="small soft">
          request <code>{auditId}</code>
          {mayReadDecisions() && (
            <>
              {' · '}
              <a href={hrefOf(`/why/${encodeURIComponent(auditId)}`)}>Why?</a>
            </>
          )}
        </p>
      )}
    </div>
  );
}

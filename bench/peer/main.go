// The peer of bench/compare: the same HTTP contract on gin, database/sql and lib/pq, with one handler per
// endpoint. It buffers whole files and takes one transaction per upload, as such a service is usually written.
// DATABASE_URL names the database and ADDR the address to listen on.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	_ "github.com/lib/pq"
)

const (
	connections     = 16 // to the database, as many as Restante opens by default
	maxRequestBytes = 50 << 20
	maxMemoryBytes  = 32 << 20 // of a form; the rest goes to temporary files
	maxFileBytes    = 25 << 20
	maxNameBytes    = 100
)

var db *sql.DB

var unsafeInName = regexp.MustCompile(`[^a-zA-Z0-9._\-]`)

func fail(c *gin.Context, status int, message string) {
	c.AbortWithStatusJSON(status, gin.H{"error": message})
}

func sanitize(name string) string {
	name = unsafeInName.ReplaceAllString(filepath.Base(name), "_")
	if len(name) > maxNameBytes {
		name = name[:maxNameBytes]
	}
	if name == "" || name == "." || name == ".." {
		return "file"
	}
	return name
}

const findToken = `
SELECT t.id, t.workspace_id
  FROM workspace_auth_tokens t JOIN workspaces w ON w.id = t.workspace_id
 WHERE t.token_hash = $1 AND t.revoked_at IS NULL AND w.status != 'removed'`

func authenticate(c *gin.Context) {
	ctx := c.Request.Context()
	header := c.GetHeader("Authorization")
	if !strings.HasPrefix(header, "Bearer ") {
		fail(c, http.StatusUnauthorized, "missing workspace auth token")
		return
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(header[len("Bearer "):])))
	var token, workspace string
	err := db.QueryRowContext(ctx, findToken, hash[:]).Scan(&token, &workspace)
	if err != nil || workspace != c.Param("id") {
		fail(c, http.StatusUnauthorized, "invalid workspace auth token")
		return
	}
	_, _ = db.ExecContext(ctx, `UPDATE workspace_auth_tokens SET last_used_at = now() WHERE id = $1`, token)
	c.Next()
}

const addWorkspace = `
INSERT INTO workspaces (id, name, delivery_mode, url) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`

const addToken = `
INSERT INTO workspace_auth_tokens (workspace_id, token_hash, prefix) VALUES ($1, $2, $3)`

func register(c *gin.Context) {
	var given struct {
		ID   string `json:"id"`
		Mode string `json:"delivery_mode"`
		URL  string `json:"url"`
	}
	if c.ShouldBindJSON(&given) != nil {
		fail(c, http.StatusBadRequest, "malformed JSON body")
		return
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		fail(c, http.StatusInternalServerError, err.Error())
		return
	}
	token := base64.RawURLEncoding.EncodeToString(secret)
	hash := sha256.Sum256([]byte(token))
	_, err := db.Exec(addWorkspace, given.ID, given.ID, given.Mode, given.URL)
	if err == nil {
		_, err = db.Exec(addToken, given.ID, hash[:], token[:8])
	}
	if err != nil {
		fail(c, http.StatusInternalServerError, err.Error())
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "registered", "auth_token": token, "delivery_mode": given.Mode})
}

type file struct {
	id             uuid.UUID
	name, mimeType string
	content        []byte
}

func (f file) uri(workspace string) string {
	return fmt.Sprintf("platform-pending:%s/%s", workspace, f.id)
}

func readFile(part *multipart.FileHeader) (file, error) {
	opened, err := part.Open()
	if err != nil {
		return file{}, err
	}
	defer opened.Close()
	content, err := io.ReadAll(opened)
	return file{name: sanitize(part.Filename), mimeType: part.Header.Get("Content-Type"), content: content}, err
}

// Reads the form's files. On failure it has answered and returns nil.
func readForm(c *gin.Context) []file {
	if err := c.Request.ParseMultipartForm(maxMemoryBytes); err != nil {
		fail(c, http.StatusBadRequest, "malformed multipart body")
		return nil
	}
	parts := c.Request.MultipartForm.File["files"]
	if len(parts) == 0 {
		fail(c, http.StatusBadRequest, "no files field in request")
		return nil
	}
	files := []file{}
	for _, part := range parts {
		read, err := readFile(part)
		if err != nil {
			fail(c, http.StatusBadRequest, "cannot read a file of the form")
			return nil
		}
		if len(read.content) > maxFileBytes {
			fail(c, http.StatusRequestEntityTooLarge, "file exceeds per-file cap")
			return nil
		}
		files = append(files, read)
	}
	return files
}

const addFile = `
INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, mimetype)
VALUES ($1, $2, $3, $4, $5) RETURNING file_id`

const addActivity = `
INSERT INTO activity_logs (workspace_id, activity_type, source_id, target_id, method, summary, request_body,
                           response_body, tool_trace, duration_ms, status, error_detail)
VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9::jsonb, $10, $11, $12)`

func logUpload(ctx context.Context, tx *sql.Tx, workspace string, f file) error {
	body, err := json.Marshal(gin.H{"file_id": f.id.String(), "name": f.name, "mimeType": f.mimeType,
		"size": len(f.content), "uri": f.uri(workspace)})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, addActivity, workspace, "a2a_receive", nil, workspace, "chat_upload_receive",
		"chat_upload_receive: "+f.name, string(body), nil, nil, nil, "ok", nil)
	return err
}

// Stores all files and their activity rows in one transaction, and sets the files' ids.
func stage(ctx context.Context, workspace string, files []file) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range files {
		f := &files[i]
		row := tx.QueryRowContext(ctx, addFile, workspace, f.content, int64(len(f.content)), f.name, f.mimeType)
		if err := row.Scan(&f.id); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := logUpload(ctx, tx, workspace, f); err != nil {
			return err
		}
	}
	return tx.Commit()
}

var outgoing = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// Passes the body on as it comes, and the answer back.
func forward(c *gin.Context, url string) {
	target := strings.TrimRight(url, "/") + "/internal/chat/uploads/ingest"
	request, err := http.NewRequestWithContext(c.Request.Context(), http.MethodPost, target, c.Request.Body)
	if err != nil {
		fail(c, http.StatusBadGateway, "workspace unreachable")
		return
	}
	request.ContentLength = c.Request.ContentLength
	request.Header.Set("Content-Type", c.GetHeader("Content-Type"))
	answer, err := outgoing.Do(request)
	if err != nil {
		fail(c, http.StatusBadGateway, "workspace unreachable")
		return
	}
	defer answer.Body.Close()
	c.Header("Content-Type", answer.Header.Get("Content-Type"))
	c.Status(answer.StatusCode)
	_, _ = io.Copy(c.Writer, answer.Body)
}

func upload(c *gin.Context) {
	ctx, workspace := c.Request.Context(), c.Param("id")
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxRequestBytes)
	var mode, url sql.NullString
	row := db.QueryRowContext(ctx, `SELECT delivery_mode, url FROM workspaces WHERE id = $1`, workspace)
	if err := row.Scan(&mode, &url); err != nil {
		fail(c, http.StatusNotFound, "workspace not found")
		return
	}
	if mode.String == "push" {
		forward(c, url.String)
		return
	}
	files := readForm(c)
	if files == nil {
		return
	}
	if err := stage(ctx, workspace, files); err != nil {
		fail(c, http.StatusInternalServerError, "could not stage files")
		return
	}
	staged := []gin.H{}
	for _, f := range files {
		staged = append(staged, gin.H{"uri": f.uri(workspace), "name": f.name, "mimeType": f.mimeType,
			"size": len(f.content)})
	}
	c.JSON(http.StatusOK, gin.H{"files": staged})
}

const getFile = `
SELECT workspace_id, content, filename, mimetype
  FROM pending_uploads WHERE file_id = $1 AND acked_at IS NULL AND expires_at > now()`

// Loads the file that the path names. On failure it has answered and returns false.
func load(c *gin.Context) (f file, found bool) {
	id, err := uuid.Parse(c.Param("file"))
	if err != nil {
		fail(c, http.StatusBadRequest, "invalid file_id")
		return f, false
	}
	f.id = id
	var workspace uuid.UUID
	row := db.QueryRowContext(c.Request.Context(), getFile, id)
	err = row.Scan(&workspace, &f.content, &f.name, &f.mimeType)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && workspace.String() != c.Param("id")) {
		fail(c, http.StatusNotFound, "not found")
		return f, false
	}
	if err != nil {
		fail(c, http.StatusInternalServerError, "storage error")
		return f, false
	}
	return f, true
}

func fetch(c *gin.Context) {
	f, found := load(c)
	if !found {
		return
	}
	if f.mimeType == "" {
		f.mimeType = "application/octet-stream"
	}
	c.Header("Content-Type", f.mimeType)
	c.Header("Content-Disposition", `attachment; filename="`+f.name+`"`)
	c.Header("Content-Length", strconv.Itoa(len(f.content)))
	c.Status(http.StatusOK)
	_, _ = c.Writer.Write(f.content)
	_, _ = db.ExecContext(c.Request.Context(), `
UPDATE pending_uploads SET fetched_at = now()
 WHERE file_id = $1 AND acked_at IS NULL AND expires_at > now()`, f.id)
}

func ack(c *gin.Context) {
	f, found := load(c)
	if !found {
		return
	}
	_, err := db.ExecContext(c.Request.Context(), `
UPDATE pending_uploads SET acked_at = now()
 WHERE file_id = $1 AND acked_at IS NULL AND expires_at > now()`, f.id)
	if err != nil {
		fail(c, http.StatusInternalServerError, "storage error")
		return
	}
	c.JSON(http.StatusOK, gin.H{"acked": true})
}

const selectActivity = `
SELECT id, workspace_id, activity_type, source_id, target_id, method, summary, request_body, duration_ms,
       status, error_detail, created_at, seq
  FROM activity_logs WHERE workspace_id = $1`

const (
	newestFirst = ` ORDER BY created_at DESC, seq DESC LIMIT $2`
	afterCursor = ` AND (created_at > $2 OR (created_at = $2 AND seq > $3)) ORDER BY created_at, seq LIMIT $4`
	findCursor  = `SELECT created_at, seq FROM activity_logs WHERE id = $1 AND workspace_id = $2`
)

func pageLimit(c *gin.Context) int {
	if n, err := strconv.Atoi(c.Query("limit")); err == nil && n > 0 && n <= 500 {
		return n
	}
	return 100
}

func queryActivity(c *gin.Context) (*sql.Rows, error) {
	ctx, workspace, limit := c.Request.Context(), c.Param("id"), pageLimit(c)
	since := c.Query("since_id")
	if since == "" {
		return db.QueryContext(ctx, selectActivity+newestFirst, workspace, limit)
	}
	var at time.Time
	var seq int64
	if err := db.QueryRowContext(ctx, findCursor, since, workspace).Scan(&at, &seq); err != nil {
		return nil, err
	}
	return db.QueryContext(ctx, selectActivity+afterCursor, workspace, at, seq, limit)
}

func scanActivity(rows *sql.Rows) (gin.H, error) {
	var id, workspace, kind, status string
	var source, target, method, summary, detail *string
	var body []byte
	var duration *int
	var at time.Time
	var seq int64
	err := rows.Scan(&id, &workspace, &kind, &source, &target, &method, &summary, &body, &duration, &status,
		&detail, &at, &seq)
	return gin.H{"id": id, "workspace_id": workspace, "activity_type": kind, "source_id": source,
		"target_id": target, "method": method, "summary": summary, "duration_ms": duration, "status": status,
		"error_detail": detail, "created_at": at, "seq": seq, "request_body": json.RawMessage(body)}, err
}

func activity(c *gin.Context) {
	rows, err := queryActivity(c)
	if errors.Is(err, sql.ErrNoRows) {
		fail(c, http.StatusGone, "since_id cursor not found")
		return
	}
	if err != nil {
		fail(c, http.StatusInternalServerError, "query failed")
		return
	}
	defer rows.Close()
	page := []gin.H{}
	for rows.Next() {
		entry, err := scanActivity(rows)
		if err != nil {
			fail(c, http.StatusInternalServerError, "query failed")
			return
		}
		page = append(page, entry)
	}
	c.JSON(http.StatusOK, page)
}

func main() {
	var err error
	if db, err = sql.Open("postgres", os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)

	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	router.POST("/registry/register", register)
	workspace := router.Group("/workspaces/:id", authenticate)
	workspace.POST("/chat/uploads", upload)
	workspace.GET("/activity", activity)
	workspace.GET("/pending-uploads/:file/content", fetch)
	workspace.POST("/pending-uploads/:file/ack", ack)
	log.Fatal(router.Run(os.Getenv("ADDR")))
}

;;; -*- lexical-binding: t -*-
(require 'jsonrpc)

(defvar tools nil)
(defvar writing nil)

(defun heard (_agent method params)
  (pcase method
    ('tool_execution_start (push (plist-get params :toolName) tools))
    ;; The first progress: the summary is being written.
    ('compaction_progress (setq writing t))))

(defvar agent
  (make-instance 'jsonrpc-process-connection
                 :name "agent"
                 :notification-dispatcher #'heard
                 :process (lambda ()
                            (make-process :name "agent" :command '("rpc-agent" "serve")
                                          :connection-type 'pipe :coding 'utf-8-emacs-unix
                                          :stderr (get-buffer-create "*agent log*") :noquery t))))

;; A prompt may take long; jsonrpc gives up after ten seconds unless it is told otherwise.
(defun call (method params)
  (jsonrpc-request agent method params :timeout 600))

;; An empty plist would be null.
(defvar nothing (make-hash-table))

(let ((hello (call 'initialize (list :protocolVersion 1 :clientInfo '(:name "jsonrpc.el") :processId (emacs-pid)))))
  (princ (format "initialize: %s, version %d\n"
                 (plist-get (plist-get hello :serverInfo) :name) (plist-get hello :protocolVersion))))

(call 'prompt '(:message "What files are here?" :wait t))
(let ((result (call 'prompt '(:message "Read notes.md" :wait t))))
  (princ (format "prompt: %s, tools %s\n"
                 (plist-get result :stopReason) (mapconcat #'identity (reverse tools) " "))))

(let (reason)
  (jsonrpc-async-request agent 'compact nothing
                         :timeout 600
                         :success-fn (lambda (_result) (setq reason "completed"))
                         :error-fn (lambda (error)
                                     (setq reason (plist-get (plist-get error :data) :reason))))
  (while (not writing) (accept-process-output nil 0.05))
  (princ (format "abort_compaction: %s\n"
                 (if (eq t (plist-get (call 'abort_compaction nothing) :aborted)) "true" "false")))
  (while (not reason) (accept-process-output nil 0.05))
  (princ (format "compact: %s\n" reason)))

(let ((whole (call 'compact nothing)))
  (princ (format "compact again: %s\n"
                 (if (< (plist-get whole :estimatedTokensAfter) (plist-get whole :tokensBefore))
                     "smaller" "not smaller"))))

(call 'shutdown nothing)
(jsonrpc-notify agent 'exit nothing)
